//: grid 1 block 64
//: in = random 64; out = poison 64
//: warp
__global__ void scan(const int *in, int *out) {
  int v = in[threadIdx.x], lane = threadIdx.x % 32;
  for (int d = 1; d < 32; d *= 2) {
    int left = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += left;
  }
  out[threadIdx.x] = v;
}
