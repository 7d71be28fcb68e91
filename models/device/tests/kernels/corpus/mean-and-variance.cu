//: grid 3 block 64
//: in = random 192; mean = poison 3; variance = poison 3
//: near
__global__ void moments(const float *in, float *mean, float *variance) {
  __shared__ float x[64], q[64];
  int t = threadIdx.x;
  float v = in[blockIdx.x * 64 + t];
  x[t] = v;
  q[t] = v * v;
  __syncthreads();
  for (int s = 32; s > 0; s >>= 1) {
    if (t < s) { x[t] += x[t + s]; q[t] += q[t + s]; }
    __syncthreads();
  }
  if (t == 0) {
    float m = x[0] / 64.0f;
    mean[blockIdx.x] = m;
    variance[blockIdx.x] = q[0] / 64.0f - m * m;
  }
}
