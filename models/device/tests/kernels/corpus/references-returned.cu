// Functions that return a reference: what they stand for is read and written.
//: grid 2 block 32; cuda
//: in = signed 128; out = poison 64; counts = zeros 4
__device__ float &cell(float *row, int i) { return row[i]; }
__device__ int &slot(int2 &pair, int which) {
  if (which == 0) return pair.x;
  return pair.y;
}
__device__ int slot(const int2 &pair, int which) { return which == 0 ? pair.x : pair.y; }
__device__ int sum(const int2 &pair) { return slot(pair, 0) + slot(pair, 1); }
__global__ void cells(const float *in, float *out, int *counts) {
  __shared__ float row[66];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  cell(row, t) = in[2 * i];
  cell(row, t) += in[2 * i + 1];
  __syncthreads();
  int2 pair = make_int2(t % 3, 5);
  slot(pair, 1) = t % 7;
  slot(pair, 0)++;
  out[i] = cell(row, 31 - t) * 0.5f + sum(pair);
  atomicAdd(&counts[sum(pair) % 4], 1);
}
