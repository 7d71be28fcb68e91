//: grid 2 block 64
//: a = random 128; out = poison 512
//: warp
__global__ void shuffle(const float *a, float *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float v = a[i];
  out[4 * i] = __shfl_sync(0xffffffff, v, 5);
  out[4 * i + 1] = __shfl_up_sync(0xffffffff, v, 3);
  out[4 * i + 2] = __shfl_down_sync(0xffffffff, v, 7);
  out[4 * i + 3] = __shfl_xor_sync(0xffffffff, v, 9);
}
