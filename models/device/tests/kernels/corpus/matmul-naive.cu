//: grid 2 2 block 8 8
//: A = signed 195; B = signed 180; C = poison 156; m = 13; n = 12; k = 15
__global__ void matmul(const float *A, const float *B, float *C, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; i++) sum += A[row * k + i] * B[i * n + column];
  C[row * n + column] = sum;
}
