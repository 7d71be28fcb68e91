// Two arrays in one: the second begins where the first ends.
//: grid 2 block 32 shared 384
//: a = random 64; out = poison 64
__global__ void parts(const float *a, float *out) {
  extern __shared__ float both[];
  float *x = both, *y = both + 32;
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  x[t] = a[i];
  y[31 - t] = a[i] * 3.0f;
  y[32 + t] = 1.0f;
  __syncthreads();
  out[i] = x[31 - t] + y[t] - y[32 + (t + 1) % 32];
}
