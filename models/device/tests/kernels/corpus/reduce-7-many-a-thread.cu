// Harris: each thread adds as many as there are before the tree begins.
//: grid 2 block 64
//: in = random 1000; out = poison 2; n = 1000
__global__ void reduce(const float *in, float *out, unsigned n) {
  __shared__ float x[64];
  unsigned t = threadIdx.x, i = blockIdx.x * 128 + t, stride = 128 * gridDim.x;
  x[t] = 0;
  while (i < n) {
    x[t] += in[i];
    if (i + 64 < n) x[t] += in[i + 64];
    i += stride;
  }
  __syncthreads();
  for (unsigned s = 32; s > 0; s >>= 1) {
    if (t < s) x[t] += x[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = x[0];
}
