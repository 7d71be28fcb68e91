//: grid 2 block 64
//: x = bits 128; y = poison 128
//: cuda
__global__ void wide(const int *x, long long *y) {
  size_t i = (size_t)blockIdx.x * 64 + threadIdx.x;
  long long v = x[i];
  y[i] = v * v - (v >> 3) + v % 1000;
}
