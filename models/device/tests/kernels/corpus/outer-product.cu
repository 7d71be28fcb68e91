//: grid 2 3 block 16 8
//: a = signed 24; b = signed 30; C = poison 720; m = 24; n = 30
__global__ void outer(const float *a, const float *b, float *C, int m, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j < n) C[i * n + j] = a[i] * b[j];
}
