//: grid 1 block 64
//: in = bits 64; out = poison 256
__global__ void bits(const unsigned *in, int *out) {
  unsigned x = in[threadIdx.x] >> threadIdx.x % 33 / 2, t = 4 * threadIdx.x;
  out[t] = __popc(x);
  out[t + 1] = __clz((int)x);
  out[t + 2] = __ffs((int)(x & -x));
  out[t + 3] = (int)__brev(x);
}
