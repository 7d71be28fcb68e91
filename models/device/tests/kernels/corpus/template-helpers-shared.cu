// Helpers that are templates and take structures that are templates, which lie in shared memory.
//: grid 2 block 32
//: in = signed 256; out = poison 64
template <typename T, int N> struct Pack { T e[N]; };
template <typename T, int N> __device__ T total(const Pack<T, N> &pack) {
  T sum = T(0);
  for (int i = 0; i < N; i++) sum += pack.e[i];
  return sum;
}
template <typename T, int N> __device__ void scale(Pack<T, N> *pack, T by) {
  for (int i = 0; i < N; i++) pack->e[i] *= by;
}
__global__ void packs(const float *in, float *out) {
  __shared__ Pack<float, 4> all[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  for (int j = 0; j < 4; j++) all[t].e[j] = in[4 * i + j];
  scale(&all[t], 0.5f);
  __syncthreads();
  out[i] = total(all[31 - t]) - total(all[t]);
}
