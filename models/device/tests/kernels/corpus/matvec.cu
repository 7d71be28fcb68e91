//: grid 20 block 32
//: A = signed 1000; x = signed 50; y = poison 20; n = 50
__global__ void matvec(const float *A, const float *x, float *y, int n) {
  __shared__ float part[32];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 32) sum += A[blockIdx.x * n + i] * x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 16; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
