//: grid 2 2 block 8 8
//: in = signed 324; weights = signed 9; out = poison 256
__global__ void convolve(const float *in, const float *weights, float *out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum += weights[3 * i + j] * in[(y + i) * 18 + x + j];
  out[y * 16 + x] = sum;
}
