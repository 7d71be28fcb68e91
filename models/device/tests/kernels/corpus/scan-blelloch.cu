//: grid 2 block 32
//: in = random 128; out = poison 128
__global__ void scan(const int *in, int *out) {
  __shared__ int x[64];
  int t = threadIdx.x, offset = 1, base = blockIdx.x * 64;
  x[2 * t] = in[base + 2 * t];
  x[2 * t + 1] = in[base + 2 * t + 1];
  for (int d = 32; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) x[offset * (2 * t + 2) - 1] += x[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  __syncthreads();
  if (t == 0) x[63] = 0;
  for (int d = 1; d < 64; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, kept = x[a];
      x[a] = x[b];
      x[b] += kept;
    }
  }
  __syncthreads();
  out[base + 2 * t] = x[2 * t];
  out[base + 2 * t + 1] = x[2 * t + 1];
}
