//: grid 3 block 96
//: x = random 257; y = random 257; a = -2.5; n = 257
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
