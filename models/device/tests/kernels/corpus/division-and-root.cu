//: grid 4 block 64
//: a = signed 256; b = random 256; out = poison 768
//: near
__global__ void divide(const float *a, const float *b, float *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  out[3 * i] = a[i] / (b[i] + 0.125f);
  out[3 * i + 1] = sqrtf(b[i] * 100.0f);
  out[3 * i + 2] = rsqrtf(b[i] + 1.0f);
}
