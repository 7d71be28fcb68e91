//: grid 2 block 64
//: sorted = index 100; wanted = random 128; out = poison 128
__global__ void search(const int *sorted, const int *wanted, int *out) {
  int i = blockIdx.x * 64 + threadIdx.x, low = 0, high = 100, v = wanted[i];
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < v) low = middle + 1; else high = middle;
  }
  out[i] = low;
}
