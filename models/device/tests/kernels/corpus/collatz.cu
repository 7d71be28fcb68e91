//: grid 2 block 64
//: out = poison 128
__global__ void collatz(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = i + 1, steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  }
  out[i] = steps;
}
