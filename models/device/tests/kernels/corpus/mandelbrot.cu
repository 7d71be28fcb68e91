//: grid 4 4 block 8 8
//: out = poison 1024
__global__ void mandelbrot(int *out) {
  int px = blockIdx.x * 8 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y, n = 0;
  float cx = px * 0.09375f - 2.0f, cy = py * 0.078125f - 1.25f, x = 0.0f, y = 0.0f;
  while (n < 60 && x * x + y * y < 4.0f) {
    float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    n++;
  }
  out[py * 32 + px] = n;
}
