// The same with the block's barrier, for devices without groups of 32.
//: grid 2 block 128 shared 512
//: in = random 512; out = poison 2
__global__ void reduce(const float *in, float *out) {
  extern __shared__ float x[];
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  x[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (t < s) x[t] += x[t + s];
    __syncthreads();
  }
  if (t < 32) x[t] += x[t + 32];
  __syncthreads();
  if (t < 16) x[t] += x[t + 16];
  __syncthreads();
  if (t < 8) x[t] += x[t + 8];
  __syncthreads();
  if (t < 4) x[t] += x[t + 4];
  __syncthreads();
  if (t < 2) x[t] += x[t + 2];
  __syncthreads();
  if (t == 0) out[blockIdx.x] = x[0] + x[1];
}
