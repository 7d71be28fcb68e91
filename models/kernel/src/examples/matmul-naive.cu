// C = A B with A of rows x columns and B of columns x rows.
__global__ void matmul(const float *A, const float *B, float *C, int rows, int columns)
{
    int x = blockDim.x * blockIdx.x + threadIdx.x;
    int y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x < rows && y < rows) {
        float sum = 0.0f;
        for (int k = 0; k < columns; k++)
            sum += A[y * columns + k] * B[k * rows + x];
        C[y * rows + x] = sum;
    }
}
