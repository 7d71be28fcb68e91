//: grid 4 block 32
//: x = signed 128; gain = random 32; bias = signed 32; out = poison 128
//: near
__global__ void norm(const float *x, const float *gain, const float *bias, float *out) {
  __shared__ float s[32];
  int t = threadIdx.x;
  float v = x[blockIdx.x * 32 + t], mean = 0.0f, square = 0.0f;
  s[t] = v;
  __syncthreads();
  for (int i = 0; i < 32; i++) mean += s[i];
  mean /= 32.0f;
  for (int i = 0; i < 32; i++) square += (s[i] - mean) * (s[i] - mean);
  out[blockIdx.x * 32 + t] = gain[t] * (v - mean) * rsqrtf(square / 32.0f + 1e-5f) + bias[t];
}
