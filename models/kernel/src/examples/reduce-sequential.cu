// The same sum with the working threads side by side.
__global__ void reduce(const float *in, float *out, int n)
{
    extern __shared__ float x[];
    int tid = threadIdx.x;
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    x[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();

    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            x[tid] += x[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = x[0];
}
