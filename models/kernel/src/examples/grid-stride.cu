__global__ void vector_add(const float *A, const float *B, float *C, int n)
{
    int first = blockDim.x * blockIdx.x + threadIdx.x;
    int stride = blockDim.x * gridDim.x;
    for (int i = first; i < n; i += stride)
        C[i] = A[i] + B[i];
}
