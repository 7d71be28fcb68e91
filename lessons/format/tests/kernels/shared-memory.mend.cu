//= right the loop of the lab fixed
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    extern __shared__ float tile[];
    int first = blockDim.x * blockIdx.x;
    for (int t = threadIdx.x; t < blockDim.x + 2 * radius; t += blockDim.x)
        if (first + t < n + 2 * radius) tile[t] = A[first + t];
    __syncthreads();
    int i = first + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = 0; j <= 2 * radius; j++) sum += tile[threadIdx.x + j];
    B[i] = sum;
}
//= right zeros past the end, summed from the right
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    extern __shared__ float tile[];
    int i = blockDim.x * blockIdx.x + threadIdx.x, end = n + 2 * radius;
    tile[threadIdx.x] = i < end ? A[i] : 0.0f;
    if (threadIdx.x < 2 * radius) {
        int k = i + blockDim.x;
        tile[threadIdx.x + blockDim.x] = k < end ? A[k] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int j = 2 * radius; j >= 0; j--) sum += tile[threadIdx.x + j];
    if (i < n) B[i] = sum;
}
//= right the halo loaded by the last threads
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    extern __shared__ float tile[];
    int t = threadIdx.x, i = blockDim.x * blockIdx.x + t, end = n + 2 * radius;
    if (i < end) tile[t] = A[i];
    int k = t + 2 * radius;
    if (k >= blockDim.x && i + 2 * radius < end) tile[k] = A[i + 2 * radius];
    __syncthreads();
    if (i < n) {
        float sum = tile[t];
        for (int j = 1; j <= 2 * radius; j++) sum += tile[t + j];
        B[i] = sum;
    }
}
//= right own element in a register
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    extern __shared__ float tile[];
    int t = threadIdx.x, i = blockDim.x * blockIdx.x + t, end = n + 2 * radius;
    float own = i < end ? A[i] : 0.0f;
    tile[t] = own;
    if (t < 2 * radius && i + blockDim.x < end) tile[t + blockDim.x] = A[i + blockDim.x];
    __syncthreads();
    if (i < n) {
        for (int j = 1; j <= 2 * radius; j++) own += tile[t + j];
        B[i] = own;
    }
}
//= wrong closed form: global_loads is 0, and must be at least 12
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) B[i] = (2 * radius + 1) * (i + radius);
}
//= wrong the lesson's closed form: global_loads is 0, and must be at least 12
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) B[i] = 5.0f * i + 10.0f;
}
//= wrong sums from global memory: they come from global memory again
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = 0; j <= 2 * radius; j++) sum += A[i + j];
    B[i] = sum;
}
//= wrong radius 2 alone: any n, block and radius: n = 10, block = 8, radius = 1
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    extern __shared__ float tile[];
    int t = threadIdx.x, i = blockDim.x * blockIdx.x + t;
    if (i < n + 4) tile[t] = A[i];
    if (t < 4 && i + blockDim.x < n + 4) tile[t + blockDim.x] = A[i + blockDim.x];
    __syncthreads();
    if (i < n) B[i] = tile[t] + tile[t + 1] + tile[t + 2] + tile[t + 3] + tile[t + 4];
}
//= wrong one thread of each block loads and sums: warp_instructions is
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    extern __shared__ float tile[];
    if (threadIdx.x != 0) return;
    int first = blockDim.x * blockIdx.x, end = n + 2 * radius;
    for (int t = 0; t < blockDim.x + 2 * radius; t++)
        if (first + t < end) tile[t] = A[first + t];
    for (int t = 0; t < blockDim.x; t++)
        if (first + t < n) {
            float sum = 0.0f;
            for (int j = 0; j <= 2 * radius; j++) sum += tile[t + j];
            B[first + t] = sum;
        }
}
//= wrong one thread with a moving window: they come from global memory again
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    if (blockIdx.x + threadIdx.x != 0) return;
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j <= 2 * radius; j++) sum += A[i + j];
        B[i] = sum;
    }
}
//= wrong hard-coded blocks of 128: 
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    __shared__ float tile[256];
    int t = threadIdx.x, i = 128 * blockIdx.x + t, end = n + 2 * radius;
    if (i < end) tile[t] = A[i];
    if (t < 2 * radius && i + 128 < end) tile[t + 128] = A[i + 128];
    __syncthreads();
    if (i < n) {
        float sum = 0.0f;
        for (int j = 0; j <= 2 * radius; j++) sum += tile[t + j];
        B[i] = sum;
    }
}
//= wrong the answer buffer as it is: 
__global__ void window_sum(const float *A, float *B, int n, int radius) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) B[i] += 0.0f * A[i + radius];
}
