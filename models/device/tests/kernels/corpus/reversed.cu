//: grid 5 block 32
//: a = index 150; b = poison 150; n = 150
__global__ void reverse(const int *a, int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[n - 1 - i] = a[i];
}
