#define TILE 16

// C = A B with A of rows x columns and B of columns x rows, a tile at a time.
__global__ void matmul(const float *A, const float *B, float *C, int rows, int columns)
{
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = TILE * blockIdx.x + tx;
    int y = TILE * blockIdx.y + ty;
    float sum = 0.0f;
    for (int first = 0; first < columns; first += TILE) {
        a[ty][tx] = y < rows && first + tx < columns ? A[y * columns + first + tx] : 0.0f;
        b[ty][tx] = x < rows && first + ty < columns ? B[(first + ty) * rows + x] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (x < rows && y < rows)
        C[y * rows + x] = sum;
}
