//: grid 2 2 block 8 4
//: in = random 703; out = poison 703; w = 37; h = 19
__global__ void invert(const float *in, float *out, int w, int h) {
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += blockDim.y * gridDim.y)
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w; x += blockDim.x * gridDim.x)
      out[y * w + x] = 1.0f - in[y * w + x];
}
