// C truncates towards zero, and the remainder has the sign of what is divided.
//: grid 4 block 64
//: out = poison 1024
__global__ void divide(int *out) {
  int i = blockIdx.x * 64 + threadIdx.x, a = i % 16 * 3 - 24, b = i / 16 - 8;
  if (b == 0) b = 7;
  out[4 * i] = a / b;
  out[4 * i + 1] = a % b;
  out[4 * i + 2] = (unsigned)a / 3u;
  out[4 * i + 3] = (unsigned)a % 10u;
}
