//: grid 1 block 64
//: a = random 64; out = poison 192
//: cuda
//: near
__global__ void root(const float *a, float *out) {
  int t = threadIdx.x;
  out[3 * t] = cbrtf(a[t]);
  out[3 * t + 1] = fmodf(100.0f * a[t], 0.7f);
  out[3 * t + 2] = 1.0f + log1pf(a[t]) + expm1f(a[t]);
}
