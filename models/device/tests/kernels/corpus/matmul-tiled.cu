//: grid 2 2 block 8 8
//: A = signed 256; B = signed 256; C = poison 256; n = 16
#define TILE 8
__global__ void matmul(const float *A, const float *B, float *C, int n) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0.0f;
  for (int t = 0; t < n / TILE; t++) {
    a[y][x] = A[row * n + t * TILE + x];
    b[y][x] = B[(t * TILE + y) * n + column];
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += a[y][k] * b[k][x];
    __syncthreads();
  }
  C[row * n + column] = sum;
}
