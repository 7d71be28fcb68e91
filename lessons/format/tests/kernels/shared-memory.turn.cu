//= right swizzled tile without padding
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[1024];
    int tx = threadIdx.x;
    int x = 32 * blockIdx.x + tx, y = 32 * blockIdx.y;
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
        if (x < columns && y + k < rows) tile[32 * k + (tx ^ k)] = in[(y + k) * columns + x];
    __syncthreads();
    x = 32 * blockIdx.y + tx;
    y = 32 * blockIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
        if (x < rows && y + k < columns) out[(y + k) * rows + x] = tile[32 * tx + (k ^ tx)];
}
//= right neighbouring rows for each thread
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int share = 32 / blockDim.y, first = share * threadIdx.y;
    int x = 32 * blockIdx.x + threadIdx.x;
    for (int k = first; k < first + share; k++) {
        int y = 32 * blockIdx.y + k;
        if (x < columns && y < rows) tile[threadIdx.x][k] = in[y * columns + x];
    }
    __syncthreads();
    x = 32 * blockIdx.y + threadIdx.x;
    for (int k = first; k < first + share; k++) {
        int y = 32 * blockIdx.x + k;
        if (x < rows && y < columns) out[y * rows + x] = tile[k][threadIdx.x];
    }
}
//= right zeros where the matrix ends
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int x = 32 * blockIdx.x + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int y = 32 * blockIdx.y + k;
        tile[k][threadIdx.x] = x < columns && y < rows ? in[y * columns + x] : 0.0f;
    }
    __syncthreads();
    int to = 32 * blockIdx.y + threadIdx.x;
    if (to >= rows) return;
    for (int k = threadIdx.y; k < 32 && 32 * blockIdx.x + k < columns; k += blockDim.y)
        out[(32 * blockIdx.x + k) * rows + to] = tile[threadIdx.x][k];
}
//= wrong columns written: global_store_sectors is
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    int x = 32 * blockIdx.x + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int y = 32 * blockIdx.y + k;
        if (x < columns && y < rows) out[x * rows + y] = in[y * columns + x];
    }
}
//= wrong columns read: global_load_sectors is
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    int x = 32 * blockIdx.y + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int y = 32 * blockIdx.x + k;
        if (x < rows && y < columns) out[y * rows + x] = in[x * columns + y];
    }
}
//= wrong one thread: active_threads is 1
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y != 0) return;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) out[x * rows + y] = in[y * columns + x];
}
//= wrong one row of threads: active_threads is 32
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    if (threadIdx.y == 0)
        for (int k = 0; k < 32; k++) {
            int x = 32 * blockIdx.x + threadIdx.x, y = 32 * blockIdx.y + k;
            if (x < columns && y < rows) tile[k][threadIdx.x] = in[y * columns + x];
        }
    __syncthreads();
    if (threadIdx.y == 0)
        for (int k = 0; k < 32; k++) {
            int x = 32 * blockIdx.y + threadIdx.x, y = 32 * blockIdx.x + k;
            if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x][k];
        }
}
//= wrong hard-coded height of 8: one tile, 32 rows of threads: global_load_sectors is 320
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int x = 32 * blockIdx.x + threadIdx.x, y = 32 * blockIdx.y;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (x < columns && y + k < rows) tile[k][threadIdx.x] = in[(y + k) * columns + x];
    __syncthreads();
    x = 32 * blockIdx.y + threadIdx.x;
    y = 32 * blockIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (x < rows && y + k < columns) out[(y + k) * rows + x] = tile[threadIdx.x][k];
}
//= wrong copied as it is: out[1] is
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    int x = 32 * blockIdx.x + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int y = 32 * blockIdx.y + k;
        if (x < columns && y < rows) out[y * columns + x] = in[y * columns + x];
    }
}
//= wrong square matrices alone: any matrix, any height
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int x = 32 * blockIdx.x + threadIdx.x, y = 32 * blockIdx.y;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) tile[k][threadIdx.x] = in[(y + k) * columns + x];
    __syncthreads();
    x = 32 * blockIdx.y + threadIdx.x;
    y = 32 * blockIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) out[(y + k) * rows + x] = tile[threadIdx.x][k];
}
//= wrong closed form: 
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    int x = 32 * blockIdx.y + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int y = 32 * blockIdx.x + k;
        if (x < rows && y < columns) out[y * rows + x] = 0.5f;
    }
}
//= wrong the answer buffer as it is: 
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    int x = 32 * blockIdx.y + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int y = 32 * blockIdx.x + k;
        if (x < rows && y < columns) out[y * rows + x] += 0.0f * in[y * rows + x];
    }
}
//= wrong a barrier that one row of threads skips: 
__global__ void transpose(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int x = 32 * blockIdx.x + threadIdx.x;
    int y = 32 * blockIdx.y;
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
        if (x < columns && y + k < rows) tile[k][threadIdx.x] = in[(y + k) * columns + x];
    if (threadIdx.y > 0) __syncthreads();
    x = 32 * blockIdx.y + threadIdx.x;
    y = 32 * blockIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
        if (x < rows && y + k < columns) out[(y + k) * rows + x] = tile[threadIdx.x][k];
}
