//: grid 2 block 64
//: where = random 128; from = index 100; out = poison 128
__global__ void gather(const int *where, const float *from, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = from[where[i]] + 0.25f;
}
