//: grid 4 block 64
//: in = random 250; bins = zeros 16; n = 250
__global__ void histogram(const int *in, unsigned *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i] & 15], 1u);
}
