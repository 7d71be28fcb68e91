// A has n + 2 * radius elements: B[i] is the sum of A[i] .. A[i + 2 * radius].
__global__ void window_sum(const float *A, float *B, int n, int radius)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int j = 0; j <= 2 * radius; j++)
            sum += A[i + j];
        B[i] = sum;
    }
}
