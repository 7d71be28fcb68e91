//: grid 1 block 64
//: in = bits 64; out = poison 256
__global__ void shift(const int *in, int *out) {
  int x = in[threadIdx.x], t = 4 * threadIdx.x, by = threadIdx.x % 32;
  unsigned u = (unsigned)x;
  out[t] = x >> by;
  out[t + 1] = u >> by;
  out[t + 2] = u << by;
  out[t + 3] = (u << (32 - by) % 32) | (u >> by);
}
