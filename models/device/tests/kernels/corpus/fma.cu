// One rounding in C; WGSL leaves it to the device whether there is one or two.
//: grid 4 block 64
//: a = signed 256; b = signed 256; out = poison 256
//: near
__global__ void fused(const float *a, const float *b, float *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = fmaf(a[i], b[i], 0.5f);
}
