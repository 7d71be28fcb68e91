// The order of additions is nobody's business: near, not equal.
//: grid 4 block 64
//: in = random 256; out = zeros 1
//: near
__global__ void sum(const float *in, float *out) {
  atomicAdd(&out[0], in[blockIdx.x * blockDim.x + threadIdx.x]);
}
