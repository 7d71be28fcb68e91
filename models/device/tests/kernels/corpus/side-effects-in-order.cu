//: grid 1 block 32
//: out = poison 128
__device__ int twice(int *count, int x) { count[0] += x; return 2 * x; }
__global__ void order(int *out) {
  __shared__ int counts[32];
  int t = threadIdx.x, i = 0, a = 5;
  counts[t] = 0;
  int *mine = counts + t;
  int b = i++ + twice(mine, i) * 10 + i--;
  a += (i += 2) * (a = a + t, a - 1);
  out[4 * t] = a;
  out[4 * t + 1] = b;
  out[4 * t + 2] = i;
  out[4 * t + 3] = counts[t] + (t > 3 ? twice(mine, 1) : 0);
}
