//: grid 3 block 64 shared 280
//: in = random 198; out = poison 192; r = 3
__global__ void stencil(const float *in, float *out, int r) {
  extern __shared__ float x[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[threadIdx.x] = in[i];
  if (threadIdx.x < 2 * r) x[blockDim.x + threadIdx.x] = in[blockDim.x + i];
  __syncthreads();
  float sum = 0.0f;
  for (int d = 0; d <= 2 * r; d++) sum += x[threadIdx.x + d];
  out[i] = sum;
}
