//= right conditions in the sum
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    __shared__ float a[16][17], b[16][17];
    int t = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
    int x = t * blockIdx.x + tx, y = t * blockIdx.y + ty;
    float sum = 0.0f;
    for (int first = 0; first < k; first += t) {
        int left = k - first < t ? k - first : t;
        if (y < m && tx < left) a[ty][tx] = A[y * k + first + tx];
        if (x < n && ty < left) b[ty][tx] = B[(first + ty) * n + x];
        __syncthreads();
        if (x < n && y < m)
            for (int j = 0; j < left; j++) sum += a[ty][j] * b[j][tx];
        __syncthreads();
    }
    if (x < n && y < m) C[y * n + x] = sum;
}
//= right the tile of B turned
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    __shared__ float a[16][17], b[16][17];
    int t = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
    int x = t * blockIdx.x + tx, y = t * blockIdx.y + ty;
    float sum = 0.0f;
    for (int first = 0; first < k; first += t) {
        a[ty][tx] = y < m && first + tx < k ? A[y * k + first + tx] : 0.0f;
        b[tx][ty] = x < n && first + ty < k ? B[(first + ty) * n + x] : 0.0f;
        __syncthreads();
        for (int j = t - 1; j >= 0; j--) sum = fmaf(a[ty][j], b[tx][j], sum);
        __syncthreads();
    }
    if (x < n && y < m) C[y * n + x] = sum;
}
//= right two pairs of tiles in turns, one barrier a round
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    __shared__ float a[2][16][16], b[2][16][16];
    int t = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
    int x = t * blockIdx.x + tx, y = t * blockIdx.y + ty;
    float sum = 0.0f;
    int which = 0;
    for (int first = 0; first < k; first += t) {
        a[which][ty][tx] = y < m && first + tx < k ? A[y * k + first + tx] : 0.0f;
        b[which][ty][tx] = x < n && first + ty < k ? B[(first + ty) * n + x] : 0.0f;
        __syncthreads();
        for (int j = 0; j < t; j++) sum += a[which][ty][j] * b[which][j][tx];
        which = 1 - which;
    }
    if (x < n && y < m) C[y * n + x] = sum;
}
//= right two sums a thread
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    __shared__ float a[256], b[256];
    int t = blockDim.x, tx = threadIdx.x, ty = threadIdx.y, own = t * ty + tx;
    int x = t * blockIdx.x + tx, y = t * blockIdx.y + ty;
    float even = 0.0f, odd = 0.0f;
    for (int round = 0; round * t < k; round++) {
        int first = round * t;
        a[own] = y < m && first + tx < k ? A[y * k + first + tx] : 0.0f;
        b[own] = x < n && first + ty < k ? B[(first + ty) * n + x] : 0.0f;
        __syncthreads();
        for (int j = 0; j < t; j += 2) {
            even += a[t * ty + j] * b[t * j + tx];
            odd += a[t * ty + j + 1] * b[t * (j + 1) + tx];
        }
        __syncthreads();
    }
    if (x < n && y < m) C[y * n + x] = even + odd;
}
//= wrong from global memory: come from global memory again
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x >= n || y >= m) return;
    float sum = 0.0f;
    for (int j = 0; j < k; j++) sum += A[y * k + j] * B[j * n + x];
    C[y * n + x] = sum;
}
//= wrong one thread: from global memory again
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y != 0) return;
    for (int y = 0; y < m; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0.0f;
            for (int j = 0; j < k; j++) sum += A[y * k + j] * B[j * n + x];
            C[y * n + x] = sum;
        }
}
//= wrong one thread of each block sums what all have loaded: warp_instructions is
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    __shared__ float a[16][16], b[16][16], c[16][16];
    int t = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
    int x = t * blockIdx.x + tx, y = t * blockIdx.y + ty;
    c[ty][tx] = 0.0f;
    for (int first = 0; first < k; first += t) {
        a[ty][tx] = y < m && first + tx < k ? A[y * k + first + tx] : 0.0f;
        b[ty][tx] = x < n && first + ty < k ? B[(first + ty) * n + x] : 0.0f;
        __syncthreads();
        if (tx + ty == 0)
            for (int i = 0; i < t; i++)
                for (int l = 0; l < t; l++)
                    for (int j = 0; j < t; j++) c[i][l] += a[i][j] * b[j][l];
        __syncthreads();
    }
    if (x < n && y < m) C[y * n + x] = c[ty][tx];
}
//= wrong hard-coded tiles of 8: any matrices, both tiles
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    __shared__ float a[8][8], b[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, x = 8 * blockIdx.x + tx, y = 8 * blockIdx.y + ty;
    float sum = 0.0f;
    for (int first = 0; first < k; first += 8) {
        a[ty][tx] = y < m && first + tx < k ? A[y * k + first + tx] : 0.0f;
        b[ty][tx] = x < n && first + ty < k ? B[(first + ty) * n + x] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 8; j++) sum += a[ty][j] * b[j][tx];
        __syncthreads();
    }
    if (x < n && y < m) C[y * n + x] = sum;
}
//= wrong multiples of the tile alone: any matrices, both tiles
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    __shared__ float a[16][16], b[16][16];
    int t = blockDim.x, tx = threadIdx.x, ty = threadIdx.y, x = t * blockIdx.x + tx, y = t * blockIdx.y + ty;
    float sum = 0.0f;
    for (int first = 0; first < k; first += t) {
        a[ty][tx] = A[y * k + first + tx];
        b[ty][tx] = B[(first + ty) * n + x];
        __syncthreads();
        for (int j = 0; j < t; j++) sum += a[ty][j] * b[j][tx];
        __syncthreads();
    }
    C[y * n + x] = sum;
}
//= wrong the expected mean of random numbers: C[0] is 2, and should be
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x < n && y < m) C[y * n + x] = 0.25f * k;
}
//= wrong the first tile alone: any matrices, both tiles
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    __shared__ float a[16][16], b[16][16];
    int t = blockDim.x, tx = threadIdx.x, ty = threadIdx.y, x = t * blockIdx.x + tx, y = t * blockIdx.y + ty;
    float sum = 0.0f;
    a[ty][tx] = y < m && tx < k ? A[y * k + tx] : 0.0f;
    b[ty][tx] = x < n && ty < k ? B[ty * n + x] : 0.0f;
    __syncthreads();
    for (int j = 0; j < t; j++) sum += a[ty][j] * b[j][tx];
    if (x < n && y < m) C[y * n + x] = sum;
}
//= wrong the answer buffer as it is: 
__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n) {
    int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x < n && y < m) C[y * n + x] += 0.0f * A[y * k] * B[x];
}
