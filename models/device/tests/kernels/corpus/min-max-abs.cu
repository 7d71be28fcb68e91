//: grid 1 block 64
//: in = bits 64; out = poison 192
__global__ void clamp(const int *in, int *out) {
  int x = in[threadIdx.x] / 2, t = 3 * threadIdx.x;
  out[t] = min(max(x, -1000000), 1000000);
  out[t + 1] = abs(x);
  out[t + 2] = max((unsigned)x, 5u) > 100u;
}
