// Each thread keeps 2 x 2 results in an array of its own.
//: grid 2 2 block 8 8
//: A = signed 1024; B = signed 1024; C = poison 1024; n = 32
__global__ void matmul(const float *A, const float *B, float *C, int n) {
  float sum[2][2] = {0.0f, 0.0f, 0.0f, 0.0f};
  int row = 2 * (blockIdx.y * blockDim.y + threadIdx.y), column = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++) sum[i][j] += A[(row + i) * n + k] * B[k * n + column + j];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) C[(row + i) * n + column + j] = sum[i][j];
}
