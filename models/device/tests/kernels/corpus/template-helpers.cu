// Helpers that are templates and take or give structures that are templates, for each that is used before.
//: grid 2 block 32; cuda
//: in = signed 256; out = poison 64; whole = poison 64
template <typename T, int N> struct Pack { T e[N]; };
template <typename T, int N> __device__ T total(const Pack<T, N> &pack) {
  T sum = T(0);
  for (int i = 0; i < N; i++) sum += pack.e[i];
  return sum;
}
template <typename T, int N> __device__ Pack<T, N> scaled(Pack<T, N> pack, T by) {
  for (int i = 0; i < N; i++) pack.e[i] = pack.e[i] * by;
  return pack;
}
__global__ void packs(const float *in, float *out, int *whole) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Pack<float, 4> a;
  for (int j = 0; j < 4; j++) a.e[j] = in[4 * i + j];
  Pack<float, 4> b = scaled(a, 0.5f);
  Pack<int, 2> c;
  c.e[0] = i;
  c.e[1] = (int)(in[4 * i] * 100.0f);
  out[i] = total(a) - total(b);
  whole[i] = total(scaled(c, 3));
}
