// Each thread sorts eight numbers in an array of its own.
//: grid 1 block 32
//: a = random 256
__global__ void sort(int *a) {
  int x[8];
  for (int i = 0; i < 8; i++) x[i] = a[8 * threadIdx.x + i];
  for (int i = 1; i < 8; i++) {
    int v = x[i], j = i - 1;
    while (j >= 0 && x[j] > v) { x[j + 1] = x[j]; j--; }
    x[j + 1] = v;
  }
  for (int i = 0; i < 8; i++) a[8 * threadIdx.x + i] = x[i];
}
