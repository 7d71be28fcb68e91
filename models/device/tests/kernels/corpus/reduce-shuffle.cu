//: grid 2 block 64
//: in = random 128; out = poison 4
//: warp
__global__ void reduce(const float *in, float *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) out[i / 32] = v;
}
