// Compilers of WGSL may take a common factor out of a sum, which rounds elsewhere.
//: grid 4 block 64
//: a = signed 256; b = signed 256; out = poison 512
//: near
__global__ void each(const float *a, const float *b, float *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float p = a[i] * b[i], q = a[i] * b[(i + 1) % 256];
  out[2 * i] = a[i] * b[i] - p;
  out[2 * i + 1] = 4.0f + (p - q * 0.75f + a[i] * 0.1f);
}
