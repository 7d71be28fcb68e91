template <int W> __device__ unsigned tile_lanes() { return (0xffffffffu >> (32 - W)) << ((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32 / W * W); }
__device__ void tile_barrier(unsigned threads) { if (threads == 0) __syncthreads(); else __syncwarp((0xffffffffu >> (32 - threads)) << ((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32 / threads * threads)); }
__device__ unsigned lanes_before(unsigned all) { return __popc(all & ((1u << ((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32)) - 1)); }
__device__ unsigned lanes_nth(unsigned all, unsigned rank) { for (unsigned i = 0; i < rank; i++) all &= all - 1; return __ffs(all) - 1; }
__device__ unsigned lanes_alike(unsigned all, int label) { unsigned alike = 0; for (unsigned rest = all; rest != 0; rest &= rest - 1) { int lane = __ffs(rest) - 1; if (__shfl_sync(all, label, lane) == label) alike |= 1u << lane; } return alike; }
__device__ unsigned lanes_ballot(unsigned all, int p) { unsigned lanes = __ballot_sync(all, p), packed = 0, i = 0; for (unsigned rest = all; rest != 0; rest &= rest - 1) packed |= (lanes >> (__ffs(rest) - 1) & 1u) << i++; return packed; }
template <class T> __device__ T lanes_shfl(unsigned all, T v, unsigned rank) { return __shfl_sync(all, v, lanes_nth(all, rank % (unsigned)__popc(all))); }
template <class T> __device__ T lanes_shfl_up(unsigned all, T v, unsigned by) { unsigned own = lanes_before(all); return __shfl_sync(all, v, lanes_nth(all, own < by ? own : own - by)); }
template <class T> __device__ T lanes_shfl_down(unsigned all, T v, unsigned by) { unsigned own = lanes_before(all), last = __popc(all) - 1; return __shfl_sync(all, v, lanes_nth(all, own + by > last ? own : own + by)); }
template <class T> __device__ T lanes_sum(unsigned all, T v) { T r = __shfl_sync(all, v, __ffs(all) - 1); for (unsigned rest = all & (all - 1); rest != 0; rest &= rest - 1) { T x = __shfl_sync(all, v, __ffs(rest) - 1); r = r + x; } return r; }
template <class T> __device__ T lanes_max(unsigned all, T v) { T r = __shfl_sync(all, v, __ffs(all) - 1); for (unsigned rest = all & (all - 1); rest != 0; rest &= rest - 1) { T x = __shfl_sync(all, v, __ffs(rest) - 1); r = max(r, x); } return r; }
template <class T> __device__ T lanes_min(unsigned all, T v) { T r = __shfl_sync(all, v, __ffs(all) - 1); for (unsigned rest = all & (all - 1); rest != 0; rest &= rest - 1) { T x = __shfl_sync(all, v, __ffs(rest) - 1); r = min(r, x); } return r; }
template <class T> __device__ T lanes_and(unsigned all, T v) { T r = __shfl_sync(all, v, __ffs(all) - 1); for (unsigned rest = all & (all - 1); rest != 0; rest &= rest - 1) { T x = __shfl_sync(all, v, __ffs(rest) - 1); r = r & x; } return r; }
template <class T> __device__ T lanes_or(unsigned all, T v) { T r = __shfl_sync(all, v, __ffs(all) - 1); for (unsigned rest = all & (all - 1); rest != 0; rest &= rest - 1) { T x = __shfl_sync(all, v, __ffs(rest) - 1); r = r | x; } return r; }
template <class T> __device__ T lanes_xor(unsigned all, T v) { T r = __shfl_sync(all, v, __ffs(all) - 1); for (unsigned rest = all & (all - 1); rest != 0; rest &= rest - 1) { T x = __shfl_sync(all, v, __ffs(rest) - 1); r = r ^ x; } return r; }
template <int W, class T> __device__ T tile_sum(T v) { for (int o = W / 2; o > 0; o /= 2) v += __shfl_xor_sync(tile_lanes<W>(), v, o, W); return v; }
template <int W, class T> __device__ T tile_max(T v) { for (int o = W / 2; o > 0; o /= 2) v = max(v, __shfl_xor_sync(tile_lanes<W>(), v, o, W)); return v; }
template <int W, class T> __device__ T tile_min(T v) { for (int o = W / 2; o > 0; o /= 2) v = min(v, __shfl_xor_sync(tile_lanes<W>(), v, o, W)); return v; }
template <int W, class T> __device__ T tile_and(T v) { for (int o = W / 2; o > 0; o /= 2) v &= __shfl_xor_sync(tile_lanes<W>(), v, o, W); return v; }
template <int W, class T> __device__ T tile_or(T v) { for (int o = W / 2; o > 0; o /= 2) v |= __shfl_xor_sync(tile_lanes<W>(), v, o, W); return v; }
template <int W, class T> __device__ T tile_xor(T v) { for (int o = W / 2; o > 0; o /= 2) v ^= __shfl_xor_sync(tile_lanes<W>(), v, o, W); return v; }
template <int W> __device__ unsigned tile_ballot(int p) { unsigned all = __ballot_sync(tile_lanes<W>(), p), lane = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32; return all >> (lane / W * W) & (0xffffffffu >> (32 - W)); }
template <int W> __device__ int tile_any(int p) { return tile_ballot<W>(p) != 0; }
template <int W> __device__ int tile_all(int p) { return tile_ballot<W>(p) == (0xffffffffu >> (32 - W)); }
template <int W, class T> __device__ T tile_other(T v, int by) { unsigned words[(sizeof(T) + 3) / 4] = {0}; memcpy(words, &v, sizeof(T)); for (int i = 0; i < (int)((sizeof(T) + 3) / 4); i++) words[i] = __shfl_xor_sync(tile_lanes<W>(), words[i], by, W); T w = v; memcpy(&w, words, sizeof(T)); return w; }
