#define TILE 32

__global__ void transpose(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + threadIdx.y;
    if (x < columns && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
    __syncthreads();

    x = TILE * blockIdx.y + threadIdx.x;
    y = TILE * blockIdx.x + threadIdx.y;
    if (x < rows && y < columns)
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
