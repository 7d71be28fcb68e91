// Products of small whole numbers, summed in 32 bits, as quantised layers have them.
//: grid 2 2 block 8 8
//: A = random 256; B = random 256; C = poison 256; n = 16
__global__ void matmul(const int *A, const int *B, int *C, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (int k = 0; k < n; ++k) sum += (A[row * n + k] - 50) * (B[k * n + column] - 50);
  C[row * n + column] = sum;
}
