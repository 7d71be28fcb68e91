// Steps of the heat equation inside of a block.
//: grid 1 block 16 16
//: t = random 256; steps = 5
__global__ void heat(float *t, int steps) {
  __shared__ float a[18][18];
  int x = threadIdx.x + 1, y = threadIdx.y + 1, i = threadIdx.y * 16 + threadIdx.x;
  a[y][x] = t[i];
  if (x == 1) a[y][0] = 0.0f;
  if (x == 16) a[y][17] = 0.0f;
  if (y == 1) a[0][x] = 0.0f;
  if (y == 16) a[17][x] = 1.0f;
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    float next = 0.25f * (a[y][x - 1] + a[y][x + 1] + a[y - 1][x] + a[y + 1][x]);
    __syncthreads();
    a[y][x] = next;
    __syncthreads();
  }
  t[i] = a[y][x];
}
