#define N 4
__device__ int clampi(int x, int lo, int hi) { if (x < lo) return lo; if (x > hi) x = hi; return x; }
__device__ float dot(const float *a, const float *b, int n, int stride) {
  float s = 0.0f;
  for (int i = 0; i < n; ++i, b += stride) s += a[i] * *b;
  return s;
}
typedef unsigned int word;
struct Cell { float at, by[2]; };
static __host__ __device__ __forceinline__ uint32_t times(word x, int by = 2) { return x * by; }
__device__ void add(int *counter, int by) { atomicAdd(counter, by); }
__device__ int where() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void all(float *out, const float *a, const float *b, int *hist, unsigned *u, int n, float f, bool flag) {
  __shared__ float tile[8][9];
  __shared__ int total;
  extern __shared__ int dyn[];
  int i = where(), j = 0, target = 2;
  float local[3] = {1.0f, 2.0f};
  float *p = tile[0];
  const float *q = a + i;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  do { j++; if (j == 2) continue; local[j % 3] += j; } while (j < 5);
  while (i < n && a[i] > 0.5f || flag) { i += gridDim.x * blockDim.x; if (i > 1000) break; }
  out[j = clampi(i, 0, n - 1)] = i < n ? a[i] : -1e30f;
  out[0] = (i++ % 2 ? f : 2.5f) + dot(a, b, n, N) + local[target];
  int k = i > 3 && (j = 4) > 2 && j++ < 9;
  p += 3; *p = 4.0f; *p++ = 5.0f; q[1];
  hist[clampi(int(q[0] * 10), 0, 9)]++;
  atomicAdd(&hist[3], 1); atomicMax(&hist[4], k);
  add(&total, 2); add(hist + 1, -3);
  atomicAdd(&out[1], 0.5f);
  unsigned old = atomicCAS(&u[0], 0u, 7u);
  u[1] = old >> 3 ^ ~old & 0xffu | (unsigned)(-5) << 2;
  dyn[threadIdx.x] = -2147483647 - 1;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (threadIdx.x < s) dyn[threadIdx.x] += dyn[threadIdx.x + s]; __syncthreads(); }
  float v = __shfl_down_sync(0xffffffff, f, 4);
  unsigned m = __ballot_sync(0xffffffff, i & 1);
  u[2] = m + __popc(m) + __any_sync(0xffffffffu, i > 3);
  out[2] = v + rsqrtf(f) + fmaxf(v, f) + powf(f, 2.0f) + roundf(f) + fabsf(-f) + min(i, 3) + max(u[0], 2u) + fmaf(f, f, f);
  switch (k) { case 0: j = 'a'; break; default: j = static_cast<int>(sizeof v); }
  printf("%d\n", j); auto w = times(j); uint l(w); if (l > INT_MAX) out[4] = -INFINITY;
  float4 q4 = reinterpret_cast<const float4 *>(a)[i], r4 = make_float4(f, q4.x, q4.w, 1.0f);
  Cell cell = {f, 1.0f, 2.0f}, other; other = cell; other.by[1] += r4.y; r4 = q4;
  reinterpret_cast<float4 *>(out)[i + 1] = r4; out[5] = other.by[i & 1] + cell.at;
  out[3] = isnan(f) ? 1.0f / 0.0f : 3;
}
