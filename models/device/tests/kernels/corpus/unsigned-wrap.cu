//: grid 1 block 64
//: in = bits 64; out = poison 256
__global__ void wrap(const unsigned *in, unsigned *out) {
  unsigned x = in[threadIdx.x], t = 4 * threadIdx.x;
  out[t] = x * 2654435761u;
  out[t + 1] = x + 0xf0000000u;
  out[t + 2] = -x;
  out[t + 3] = x - 0x80000001u;
}
