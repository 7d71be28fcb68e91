//: grid 10 block 16
//: token = random 10; table = index 1600; out = poison 160
__global__ void look_up(const int *token, const float *table, float *out) {
  out[blockIdx.x * 16 + threadIdx.x] = table[token[blockIdx.x] * 16 + threadIdx.x];
}
