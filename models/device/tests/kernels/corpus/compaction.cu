//: grid 2 block 64
//: in = random 128; out = poison 128; count = poison 2
__global__ void keep_even(const int *in, int *out, int *count) {
  __shared__ int at[64];
  int t = threadIdx.x, v = in[blockIdx.x * 64 + t], wanted = v % 2 == 0;
  at[t] = wanted;
  __syncthreads();
  for (int d = 1; d < 64; d <<= 1) {
    int left = t >= d ? at[t - d] : 0;
    __syncthreads();
    at[t] += left;
    __syncthreads();
  }
  if (wanted) out[blockIdx.x * 64 + at[t] - 1] = v;
  if (t == 63) count[blockIdx.x] = at[63];
}
