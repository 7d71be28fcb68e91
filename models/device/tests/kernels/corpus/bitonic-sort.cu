//: grid 2 block 64
//: a = bits 128
__global__ void sort(unsigned *a) {
  __shared__ unsigned x[64];
  unsigned t = threadIdx.x;
  x[t] = a[blockIdx.x * 64 + t];
  __syncthreads();
  for (unsigned k = 2; k <= 64; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      unsigned other = t ^ j;
      if (other > t) {
        bool up = (t & k) == 0;
        if (up == (x[t] > x[other])) { unsigned kept = x[t]; x[t] = x[other]; x[other] = kept; }
      }
      __syncthreads();
    }
  a[blockIdx.x * 64 + t] = x[t];
}
