// The slots are dealt in any order; what is told is only how many there were.
//: grid 2 block 64
//: a = random 128; count = zeros 1; seen = zeros 128
__global__ void deal(const int *a, int *count, int *seen) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (a[i] > 30) {
    int slot = atomicAdd(count, 1);
    atomicAdd(&seen[slot], 1);
  }
}
