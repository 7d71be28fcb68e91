//: grid 4 block 64
//: x = signed 256; out = poison 1280
//: near
__global__ void grow(const float *x, float *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  out[5 * i] = expf(8.0f * x[i]);
  out[5 * i + 1] = exp2f(8.0f * x[i]);
  out[5 * i + 2] = logf(fabsf(x[i]) + 1.5f);
  out[5 * i + 3] = log2f(fabsf(x[i]) + 1.5f);
  out[5 * i + 4] = powf(fabsf(x[i]) + 0.5f, 2.5f);
}
