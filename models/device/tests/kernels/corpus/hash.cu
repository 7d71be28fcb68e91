//: grid 4 block 64
//: out = poison 256
__device__ unsigned mix(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
  return x;
}
__global__ void hash(unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
  for (int k = 0; k < 5; k++) x = mix(x + i);
  out[i] = x;
}
