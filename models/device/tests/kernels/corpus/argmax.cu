//: grid 2 block 128
//: in = random 256; value = poison 2; where = poison 2
__global__ void argmax(const int *in, int *value, int *where) {
  __shared__ int v[128], at[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  v[t] = in[i];
  at[t] = i;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s && (v[t + s] > v[t] || (v[t + s] == v[t] && at[t + s] < at[t]))) {
      v[t] = v[t + s];
      at[t] = at[t + s];
    }
    __syncthreads();
  }
  if (t == 0) { value[blockIdx.x] = v[0]; where[blockIdx.x] = at[0]; }
}
