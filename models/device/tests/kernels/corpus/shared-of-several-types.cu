//: grid 2 block 32
//: out = poison 64; f = poison 64
__global__ void types(int *out, float *f) {
  __shared__ float a[4][8];
  __shared__ int b[32];
  __shared__ unsigned c;
  __shared__ bool even[32];
  int t = threadIdx.x;
  a[t / 8][t % 8] = t * 0.5f;
  b[t] = -t;
  even[t] = t % 2 == 0;
  if (t == 5) c = 4000000000u + blockIdx.x;
  __syncthreads();
  out[blockIdx.x * 32 + t] = even[31 - t] ? b[31 - t] : (int)(c >> 16);
  f[blockIdx.x * 32 + t] = a[t % 4][t / 4];
}
