// An unsigned operand makes an int unsigned, also in comparisons.
//: grid 1 block 64
//: out = poison 320
__global__ void promote(int *out) {
  int i = (int)threadIdx.x - 32;
  unsigned u = 10;
  out[5 * threadIdx.x] = i < u;
  out[5 * threadIdx.x + 1] = i < (int)u;
  out[5 * threadIdx.x + 2] = (i + u) / 2;
  out[5 * threadIdx.x + 3] = (i + (int)u) / 2;
  out[5 * threadIdx.x + 4] = i - u > 5 ? 1 : -1;
}
