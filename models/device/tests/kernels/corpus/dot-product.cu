//: grid 1 block 128
//: a = signed 1000; b = signed 1000; out = poison 1; n = 1000
__global__ void dot(const float *a, const float *b, float *out, int n) {
  __shared__ float x[128];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += a[i] * b[i];
  x[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) x[threadIdx.x] += x[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = x[0];
}
