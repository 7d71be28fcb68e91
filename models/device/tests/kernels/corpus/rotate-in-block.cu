//: grid 3 block 64
//: a = index 192; by = 17
__global__ void rotate(int *a, int by) {
  __shared__ int x[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[threadIdx.x] = a[i];
  __syncthreads();
  a[i] = x[(threadIdx.x + by) % 64];
}
