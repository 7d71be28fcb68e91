// Harris: the last warp unrolled. His text has no barriers there; since Volta it needs one a step.
//: grid 2 block 128 shared 512
//: in = random 512; out = poison 2
//: warp
__global__ void reduce(const float *in, float *out) {
  extern __shared__ float x[];
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  x[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (t < s) x[t] += x[t + s];
    __syncthreads();
  }
  if (t < 32) {
    float v = x[t] + x[t + 32];
    __syncwarp(); x[t] = v; __syncwarp();
    if (t < 16) v += x[t + 16];
    __syncwarp(); x[t] = v; __syncwarp();
    if (t < 8) v += x[t + 8];
    __syncwarp(); x[t] = v; __syncwarp();
    if (t < 4) v += x[t + 4];
    __syncwarp(); x[t] = v; __syncwarp();
    if (t < 2) v += x[t + 2];
    __syncwarp(); x[t] = v; __syncwarp();
    if (t < 1) v += x[t + 1];
    if (t == 0) out[blockIdx.x] = v;
  }
}
