//: grid 2 block 64
//: gcd = poison 128; prime = poison 128
__global__ void number(int *gcd, int *prime) {
  int i = blockIdx.x * 64 + threadIdx.x, a = i * 6 + 6, b = 360;
  while (b) { int rest = a % b; a = b; b = rest; }
  gcd[i] = a;
  bool is = i > 1;
  for (int d = 2; d * d <= i && is; d++) is = i % d != 0;
  prime[i] = is;
}
