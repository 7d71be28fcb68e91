//: grid 1 block 64
//: out = poison 64
__global__ void triples(int *out) {
  int c = threadIdx.x + 1, found = 0;
  for (int a = 1; a < c; a++) {
    for (int b = a; b < c; b++) {
      if (a * a + b * b > c * c) break;
      if (a * a + b * b == c * c) { found = found * 1000 + a; break; }
    }
    if (found > 1000) break;
  }
  out[threadIdx.x] = found;
}
