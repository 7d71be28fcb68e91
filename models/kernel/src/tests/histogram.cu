__global__ void histogram(const int *in, unsigned *bins, int n) {
    __shared__ unsigned own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&own[in[i] & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(bins + threadIdx.x, own[threadIdx.x]);
}
