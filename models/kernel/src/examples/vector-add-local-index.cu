__global__ void vector_add(const float *A, const float *B, float *C, int n)
{
    int i = threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}
