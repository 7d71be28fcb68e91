// Threads that have returned miss nothing: there is no barrier behind.
//: grid 2 block 64
//: a = random 128; out = index 128
__device__ int first_above(const int *a, int limit) {
  for (int i = 0; i < 128; i++) {
    if (a[i] <= limit) continue;
    return i;
  }
  return -1;
}
__global__ void early(const int *a, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 0) return;
  if (i % 5 == 0) { out[i] = -i; return; }
  out[i] = first_above(a, i);
}
