//: grid 2 block 64
//: a = random 128; out = poison 384
//: warp
__global__ void vote(const int *a, unsigned *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  out[3 * i] = __ballot_sync(0xffffffff, a[i] > 50);
  out[3 * i + 1] = __any_sync(0xffffffff, a[i] > 95);
  out[3 * i + 2] = __all_sync(0xffffffff, a[i] > 2);
}
