__global__ void brighten(const float *in, float *out, int rows, int columns)
{
    int x = blockDim.x * blockIdx.x + threadIdx.x;
    int y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x < columns && y < rows) {
        int i = y * columns + x;
        out[i] = fminf(255.0f, 1.5f * in[i]);
    }
}
