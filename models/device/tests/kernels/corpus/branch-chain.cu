//: grid 2 block 64
//: out = poison 128
__global__ void chain(int *out) {
  int i = blockIdx.x * 64 + threadIdx.x, x;
  if (i % 15 == 0) x = 4;
  else if (i % 5 == 0) x = 3;
  else if (i % 3 == 0) x = 2;
  else { x = 1; if (i % 2) { x = -x; if (i % 7 == 1) x *= i; } else x += i; }
  out[i] = i < 64 ? x : i % 4 == 1 ? x + 1 : i % 4 == 2 ? x + 2 : -x;
}
