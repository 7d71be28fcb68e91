//: grid 2 3 2 block 4 2 3
//: out = poison 1440
__global__ void place(int *out) {
  int threads = blockDim.x * blockDim.y * blockDim.z;
  int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * threads + thread] = 100 * block + thread;
}
