//: grid 2 block 64
//: pairs = random 256; x = poison 128; y = poison 128
__global__ void deinterleave(const float *pairs, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float *p = pairs + 2 * i;
  x[i] = p[0];
  y[i] = p[1];
}
