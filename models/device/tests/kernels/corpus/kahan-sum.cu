// Compilers of WGSL may reorder sums of floats, and what a compensated sum saves is then lost again.
//: grid 1 block 64
//: a = signed 256; out = poison 64
//: near
__global__ void kahan(const float *a, float *out) {
  float sum = 1e6f, lost = 0.0f;
  for (int k = 0; k < 64; k++) {
    float y = a[(threadIdx.x + k) % 256] - lost, t = sum + y;
    lost = (t - sum) - y;
    sum = t;
  }
  out[threadIdx.x] = sum;
}
