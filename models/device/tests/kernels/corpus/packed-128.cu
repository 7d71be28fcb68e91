// Eight or four numbers that are loaded and stored by one access of 16 bytes, after the structure of that name in llm.c.
//: grid 2 block 32; cuda
//: in = signed 256; weight = signed 256; out = poison 256
template <class T> struct alignas(16) Packed128 {
  Packed128() = default;
  static constexpr int size = 16 / sizeof(T);
  T payload[size];
  __device__ T &operator[](int index) { return payload[index]; }
  __device__ const T &operator[](int index) const { return payload[index]; }
  static __device__ Packed128<T> constant(T value) {
    Packed128<T> result;
    for (int k = 0; k < size; ++k) result[k] = value;
    return result;
  }
};
typedef Packed128<float> f128;
__device__ f128 load128(const float *address) {
  f128 packed;
  float4 bits = *reinterpret_cast<const float4 *>(address);
  packed[0] = bits.x;
  packed[1] = bits.y;
  packed[2] = bits.z;
  packed[3] = bits.w;
  return packed;
}
__device__ void store128(float *target, const f128 &value) {
  *reinterpret_cast<float4 *>(target) = make_float4(value[0], value[1], value[2], value[3]);
}
__global__ void weighted(const float *in, const float *weight, float *out) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * f128::size;
  f128 x = load128(in + i), w = load128(weight + i), y = f128::constant(0.25f);
  for (int k = 0; k < f128::size; ++k) y[k] += x[k] * w[k];
  store128(out + i, y);
}
