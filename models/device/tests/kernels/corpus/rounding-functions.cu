//: grid 2 block 64
//: out = poison 640
__global__ void rounding(float *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float x = (i - 64) * 0.25f;
  out[5 * i] = floorf(x);
  out[5 * i + 1] = ceilf(x);
  out[5 * i + 2] = truncf(x);
  out[5 * i + 3] = rintf(x);
  out[5 * i + 4] = roundf(x);
}
