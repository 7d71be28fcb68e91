// A buffer and a number that the kernel never looks at are handed over all the same.
//: grid 1 block 32
//: unused = random 16; out = poison 32; number = 3; by = 1.5; flag = 1
__global__ void constant(const float *unused, int *out, int number, float by, bool flag) {
  out[threadIdx.x] = flag ? 7 : 8;
}
