// A has n + 2 * radius elements; each block keeps its part of them, and the halo, in shared memory.
__global__ void window_sum(const float *A, float *B, int n, int radius)
{
    extern __shared__ float tile[];
    int first = blockDim.x * blockIdx.x;
    int width = blockDim.x + 2 * radius;
    for (int t = threadIdx.x; t < width; t += blockDim.x)
        if (first + t < n + 2 * radius)
            tile[t] = A[first + t];

    int i = first + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int j = 0; j <= 2 * radius; j++)
            sum += tile[threadIdx.x + j];
        B[i] = sum;
    }
}
