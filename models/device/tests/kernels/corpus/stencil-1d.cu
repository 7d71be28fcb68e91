//: grid 3 block 64
//: in = random 180; out = poison 180; n = 180; r = 3
__global__ void stencil(const float *in, float *out, int n, int r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int d = -r; d <= r; d++) {
    int j = i + d;
    if (j < 0 || j >= n) continue;
    sum += in[j];
  }
  out[i] = sum;
}
