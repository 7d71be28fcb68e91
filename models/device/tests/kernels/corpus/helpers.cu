// Helpers that take arrays of several kinds, and call one another.
//: grid 2 block 32
//: a = random 64; out = poison 64
__device__ float pick(const float *p, int i) { return p[i % 32]; }
__device__ float blend(const float *p, int i, float by) {
  if (by > 0.75f) return pick(p, i + 1);
  return by * pick(p, i) + (1.0f - by) * pick(p, i + 2);
}
__device__ int where() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void mix(const float *a, float *out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = a[where()] * 2.0f;
  __syncthreads();
  out[where()] = blend(tile, threadIdx.x, a[where()]) - pick(a, where());
}
