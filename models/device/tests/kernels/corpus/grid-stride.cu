//: grid 2 block 32
//: x = index 1000; y = poison 1000; n = 1000
__global__ void scale(const float *x, float *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = 0.5f * x[i] - 1.0f;
}
