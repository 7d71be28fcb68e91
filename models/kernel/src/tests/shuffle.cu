__device__ float warp_sum(float x) {
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    return x;
}
__global__ void reduce(const float *in, float *out) {
    float x = warp_sum(in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) out[blockIdx.x] = x;
}
