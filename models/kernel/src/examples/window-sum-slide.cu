// As on the slide. Which elements of A does the last block need, and which does it load?
__global__ void window_sum(const float *A, float *B, int n, int radius)
{
    extern __shared__ float tile[];
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    int t = threadIdx.x;
    if (i < n)
        tile[t] = A[i];
    if (t < 2 * radius && i + blockDim.x < n)
        tile[t + blockDim.x] = A[i + blockDim.x];
    __syncthreads();

    if (i < n) {
        float sum = 0.0f;
        for (int j = 0; j <= 2 * radius; j++)
            sum += tile[t + j];
        B[i] = sum;
    }
}
