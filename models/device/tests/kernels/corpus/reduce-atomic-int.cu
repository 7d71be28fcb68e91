//: grid 4 block 64
//: in = random 250; out = zeros 1; n = 250
__global__ void sum(const int *in, int *out, int n) {
  __shared__ int part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&part, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, part);
}
