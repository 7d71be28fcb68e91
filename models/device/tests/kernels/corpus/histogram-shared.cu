//: grid 4 block 64
//: in = bits 512; bins = zeros 32; n = 512
#define BINS 32
__global__ void histogram(const unsigned *in, unsigned *bins, int n) {
  __shared__ unsigned mine[BINS];
  if (threadIdx.x < BINS) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&mine[in[i] >> 27], 1u);
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
