// Harris: completely unrolled for a block that is known.
//: grid 2 block 128
//: in = random 512; out = poison 2
#define BLOCK 128
__global__ void reduce(const float *in, float *out) {
  __shared__ float x[BLOCK];
  unsigned t = threadIdx.x, i = blockIdx.x * (BLOCK * 2) + threadIdx.x;
  x[t] = in[i] + in[i + BLOCK];
  __syncthreads();
  if (BLOCK >= 512) { if (t < 256) x[t] += x[t + 256]; __syncthreads(); }
  if (BLOCK >= 256) { if (t < 128) x[t] += x[(t + 128) % BLOCK]; __syncthreads(); }
  if (BLOCK >= 128) { if (t < 64) x[t] += x[t + 64]; __syncthreads(); }
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
  if (t < 1) out[blockIdx.x] = x[0] + x[1];
}
