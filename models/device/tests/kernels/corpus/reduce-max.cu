//: grid 4 block 64
//: in = signed 256; out = poison 4
__global__ void largest(const float *in, float *out) {
  __shared__ float x[64];
  int t = threadIdx.x;
  x[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int s = 32; s; s /= 2) {
    if (t < s) x[t] = fmaxf(x[t], x[t + s]);
    __syncthreads();
  }
  if (!t) out[blockIdx.x] = x[0];
}
