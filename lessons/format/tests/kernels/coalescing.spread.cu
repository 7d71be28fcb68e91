//= right a piece for each block
__global__ void scale(float *y, const float *x, int n) {
    int piece = (n + gridDim.x - 1) / gridDim.x;
    int first = piece * blockIdx.x;
    int end = min(first + piece, n);
    for (int i = first + threadIdx.x; i < end; i += blockDim.x) y[i] = 3.0f * x[i];
}
//= right four loads a round
__global__ void scale(float *y, const float *x, int n) {
    int all = gridDim.x * blockDim.x;
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (; i + 3 * all < n; i += 4 * all) {
        float a = x[i], b = x[i + all], c = x[i + 2 * all], d = x[i + 3 * all];
        y[i] = 3.0f * a; y[i + all] = 3.0f * b; y[i + 2 * all] = 3.0f * c; y[i + 3 * all] = 3.0f * d;
    }
    for (; i < n; i += all) y[i] = 3.0f * x[i];
}
//= right lanes from right to left
__global__ void scale(float *y, const float *x, int n) {
    int lane = threadIdx.x % 32;
    int first = blockDim.x * blockIdx.x + threadIdx.x - lane + (31 - lane);
    for (int i = first; i < n; i += blockDim.x * gridDim.x) y[i] = 3.0f * x[i];
}
//= right through shared memory
__global__ void scale(float *y, const float *x, int n) {
    __shared__ float tile[1024];
    for (int base = blockDim.x * blockIdx.x; base < n; base += blockDim.x * gridDim.x) {
        int i = base + threadIdx.x;
        if (i < n) tile[threadIdx.x] = x[i];
        __syncthreads();
        if (i < n) y[i] = 3.0f * tile[threadIdx.x];
        __syncthreads();
    }
}
//= right vector loads
__global__ void scale(float *y, const float *x, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (int i = first; i < n / 4; i += stride) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        reinterpret_cast<float4 *>(y)[i] = make_float4(3.0f * v.x, 3.0f * v.y, 3.0f * v.z, 3.0f * v.w);
    }
    for (int i = n / 4 * 4 + first; i < n; i += stride) y[i] = 3.0f * x[i];
}
//= wrong one thread: lanes are too far apart
__global__ void scale(float *y, const float *x, int n) {
    if (threadIdx.x == 0 && blockIdx.x == 0)
        for (int i = 0; i < n; i++) y[i] = 3.0f * x[i];
}
//= wrong closed form: global_loads is 0, and must be at least 1024 (n)
__global__ void scale(float *y, const float *x, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = 3.0f * i;
}
//= wrong contiguous pieces as before: lanes are too far apart
__global__ void scale(float *y, const float *x, int n) {
    int all = gridDim.x * blockDim.x, piece = (n + all - 1) / all;
    int first = piece * (blockDim.x * blockIdx.x + threadIdx.x);
    for (int i = first; i < first + piece && i < n; i++) y[i] = 3.0f * x[i];
}
//= wrong one side only: lanes are too far apart
__global__ void scale(float *y, const float *x, int n) {
    __shared__ float tile[1024];
    int t = threadIdx.x, rows = blockDim.x / 8;
    for (int base = blockDim.x * blockIdx.x; base < n; base += blockDim.x * gridDim.x) {
        if (base + t < n) tile[t] = x[base + t];
        __syncthreads();
        int k = (t % rows) * 8 + t / rows;
        if (base + k < n) y[base + k] = 3.0f * tile[k];
        __syncthreads();
    }
}
//= wrong hard-coded block of 128: Take the number of threads from blockDim and gridDim
__global__ void scale(float *y, const float *x, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += 128) y[i] = 3.0f * x[i];
}
//= wrong the first warp does it all: active_threads is 32
__global__ void scale(float *y, const float *x, int n) {
    if (blockIdx.x == 0 && threadIdx.x < 32)
        for (int i = threadIdx.x; i < n; i += 32) y[i] = 3.0f * x[i];
}
//= wrong input copied: y[1] is 1, and should be 3
__global__ void scale(float *y, const float *x, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[i];
}
//= wrong the answer buffer as it is: 
__global__ void scale(float *y, const float *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += 0.0f * x[i];
}
//= wrong two lanes in turns, one element each: 
__global__ void scale(float *y, const float *x, int n) {
    for (int i = blockIdx.x * 2 + threadIdx.x; threadIdx.x < 2 && i < n; i += 2 * gridDim.x) y[i] = 3.0f * x[i];
}
