//: grid 1 block 64
//: out = poison 64
__global__ void halve(int *out) {
  int n = threadIdx.x, rounds = 0;
  for (;;) {
    if (n < 2) break;
    n = n / 2;
    ++rounds;
  }
  while (true) { if (++rounds % 4 == 0) break; }
  out[threadIdx.x] = rounds;
}
