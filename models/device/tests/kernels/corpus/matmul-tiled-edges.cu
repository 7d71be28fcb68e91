//: grid 3 2 block 8 8
//: A = random 143; B = random 209; C = poison 247; m = 13; n = 19; k = 11
#define TILE 8
__global__ void matmul(const float *A, const float *B, float *C, int m, int n, int k) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0.0f;
  for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
    int i = t * TILE;
    a[y][x] = row < m && i + x < k ? A[row * k + i + x] : 0.0f;
    b[y][x] = i + y < k && column < n ? B[(i + y) * n + column] : 0.0f;
    __syncthreads();
    for (int j = 0; j < TILE; j++) sum += a[y][j] * b[j][x];
    __syncthreads();
  }
  if (row < m && column < n) C[row * n + column] = sum;
}
