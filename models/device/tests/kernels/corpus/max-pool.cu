//: grid 2 2 block 8 8
//: in = signed 1024; out = poison 256; where = poison 256
__global__ void pool(const float *in, float *out, int *where) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, at = 0;
  float most = -1e30f;
  for (int i = 0; i < 4; i++) {
    float v = in[(2 * y + i / 2) * 32 + 2 * x + i % 2];
    if (v > most) { most = v; at = i; }
  }
  out[y * 16 + x] = most;
  where[y * 16 + x] = at;
}
