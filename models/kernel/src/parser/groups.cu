template <int W, class T> __device__ T tile_sum(T v) { for (int o = W / 2; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o, W); return v; }
template <int W, class T> __device__ T tile_max(T v) { for (int o = W / 2; o > 0; o /= 2) v = max(v, __shfl_xor_sync(0xffffffffu, v, o, W)); return v; }
template <int W, class T> __device__ T tile_min(T v) { for (int o = W / 2; o > 0; o /= 2) v = min(v, __shfl_xor_sync(0xffffffffu, v, o, W)); return v; }
template <int W, class T> __device__ T tile_and(T v) { for (int o = W / 2; o > 0; o /= 2) v &= __shfl_xor_sync(0xffffffffu, v, o, W); return v; }
template <int W, class T> __device__ T tile_or(T v) { for (int o = W / 2; o > 0; o /= 2) v |= __shfl_xor_sync(0xffffffffu, v, o, W); return v; }
template <int W, class T> __device__ T tile_xor(T v) { for (int o = W / 2; o > 0; o /= 2) v ^= __shfl_xor_sync(0xffffffffu, v, o, W); return v; }
template <int W> __device__ unsigned tile_ballot(int p) { unsigned all = __ballot_sync(0xffffffffu, p), lane = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32; return all >> (lane / W * W) & (0xffffffffu >> (32 - W)); }
template <int W> __device__ int tile_any(int p) { return tile_ballot<W>(p) != 0; }
template <int W> __device__ int tile_all(int p) { return tile_ballot<W>(p) == (0xffffffffu >> (32 - W)); }
