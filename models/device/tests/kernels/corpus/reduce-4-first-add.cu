// Harris: half as many blocks, the first addition while loading.
//: grid 2 block 128 shared 512
//: in = random 512; out = poison 2
__global__ void reduce(const float *in, float *out) {
  extern __shared__ float x[];
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  x[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) x[t] += x[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = x[0];
}
