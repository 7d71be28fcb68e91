//: grid 2 block 64
//: a = random 128; out = poison 640
//: warp
__global__ void vote(const int *a, unsigned *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  out[5 * i] = __ballot_sync(0xffffffff, a[i] > 50);
  out[5 * i + 1] = __any_sync(0xffffffff, a[i] > 95);
  out[5 * i + 2] = __all_sync(0xffffffff, a[i] > 2);
  out[5 * i + 3] = __reduce_add_sync(0xffffffff, a[i]);
  out[5 * i + 4] = __reduce_xor_sync(0xffffffff, a[i]);
}
