// A multiplication modulo a power of two permutes: no two threads meet.
//: grid 2 block 128
//: out = poison 256
__global__ void scatter(unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[(i * 77u + 13u) & 255u] = i;
}
