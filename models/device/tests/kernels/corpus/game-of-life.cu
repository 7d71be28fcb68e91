//: grid 2 2 block 8 8
//: now = random 256; then = poison 256; n = 16
__device__ int alive(const int *cells, int x, int y, int n) {
  return cells[((y + n) % n) * n + (x + n) % n] & 1;
}
__global__ void life(const int *now, int *then, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, around = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx || dy) around += alive(now, x + dx, y + dy, n);
  then[y * n + x] = around == 3 || (around == 2 && alive(now, x, y, n));
}
