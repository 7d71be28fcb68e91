//: grid 2 block 64
//: in = random 128; out = poison 128
__global__ void scan(const int *in, int *out) {
  __shared__ int x[2][64];
  int t = threadIdx.x, from = 0;
  x[0][t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int to = 1 - from;
    x[to][t] = t >= d ? x[from][t] + x[from][t - d] : x[from][t];
    from = to;
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = x[from][t];
}
