// Harris, Optimizing Parallel Reduction in CUDA: interleaved addressing, divergent branches.
//: grid 4 block 128 shared 512
//: in = random 512; out = poison 4
__global__ void reduce(const float *in, float *out) {
  extern __shared__ float x[];
  unsigned t = threadIdx.x;
  x[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) x[t] += x[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = x[0];
}
