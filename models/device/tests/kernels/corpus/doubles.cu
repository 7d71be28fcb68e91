//: grid 2 block 64
//: x = signed 128; y = signed 128
//: cuda
__global__ void axpy(const double *x, double *y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = 0.1 * x[i] + y[i] / 3.0;
}
