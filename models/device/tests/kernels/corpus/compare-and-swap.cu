// A maximum by trying until nobody was in between.
//: grid 2 block 64
//: a = random 128; out = zeros 1
__global__ void largest(const int *a, int *out) {
  int v = a[blockIdx.x * 64 + threadIdx.x] * 3, seen = atomicCAS(out, 0, v);
  while (seen < v) {
    int now = atomicCAS(out, seen, v);
    if (now == seen) break;
    seen = now;
  }
}
