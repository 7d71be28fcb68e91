//: grid 3 2 block 16 8
//: in = random 640; out = poison 640; w = 40; h = 16
__global__ void laplace(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int i = y * w + x;
  bool edge = x == 0 || y == 0 || x == w - 1 || y == h - 1;
  out[i] = edge ? in[i] : in[i - 1] + in[i + 1] + in[i - w] + in[i + w] - 4.0f * in[i];
}
