//= right while loop
__global__ void scale(float *y, const float *x, float s, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    while (i < n) { y[i] = x[i] * s; i += gridDim.x * blockDim.x; }
}
//= right a contiguous piece for each thread
__global__ void scale(float *y, const float *x, float s, int n) {
    int all = gridDim.x * blockDim.x;
    int piece = (n + all - 1) / all;
    int first = piece * (blockDim.x * blockIdx.x + threadIdx.x);
    for (int i = first; i < first + piece && i < n; i++) y[i] = s * x[i];
}
//= right four loads a round
__global__ void scale(float *y, const float *x, float s, int n) {
    int all = gridDim.x * blockDim.x;
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (; i + 3 * all < n; i += 4 * all) {
        float a = x[i], b = x[i + all], c = x[i + 2 * all], d = x[i + 3 * all];
        y[i] = s * a; y[i + all] = s * b; y[i + 2 * all] = s * c; y[i + 3 * all] = s * d;
    }
    for (; i < n; i += all) y[i] = s * x[i];
}
//= right a piece for each block
__global__ void scale(float *y, const float *x, float s, int n) {
    int piece = (n + gridDim.x - 1) / gridDim.x;
    int first = piece * blockIdx.x;
    int end = first + piece < n ? first + piece : n;
    for (int i = first + threadIdx.x; i < end; i += blockDim.x) y[i] = s * x[i];
}
//= right vector loads
__global__ void scale(float *y, const float *x, float s, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (int i = first; i < n / 4; i += stride) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        reinterpret_cast<float4 *>(y)[i] = make_float4(s * v.x, s * v.y, s * v.z, s * v.w);
    }
    for (int i = n / 4 * 4 + first; i < n; i += stride) y[i] = s * x[i];
}
//= wrong one thread: active_threads is 1, and must be at least
__global__ void scale(float *y, const float *x, float s, int n) {
    if (threadIdx.x == 0 && blockIdx.x == 0)
        for (int i = 0; i < n; i++) y[i] = s * x[i];
}
//= wrong closed form: global_loads is 0, and must be at least 1000 (n)
__global__ void scale(float *y, const float *x, float s, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = s * i;
}
//= wrong hard-coded stride of 64: n = 77, block = 32, blocks = 1: y[32] is not written, and should be
__global__ void scale(float *y, const float *x, float s, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += gridDim.x * 64) y[i] = s * x[i];
}
//= wrong hard-coded index and stride of 64: y[32] is not written
__global__ void scale(float *y, const float *x, float s, int n) {
    for (int i = 64 * blockIdx.x + threadIdx.x; i < n; i += gridDim.x * 64) y[i] = s * x[i];
}
//= wrong hard-coded factor: y[0] is 
__global__ void scale(float *y, const float *x, float s, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = 2.5f * x[i];
}
//= wrong the first block does it all: active_threads is
__global__ void scale(float *y, const float *x, float s, int n) {
    if (blockIdx.x == 0)
        for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = s * x[i];
}
//= wrong one lane of each warp: warp_instructions is
__global__ void scale(float *y, const float *x, float s, int n) {
    int t = blockDim.x * blockIdx.x + threadIdx.x, all = blockDim.x * gridDim.x;
    float seen = t < n ? x[t] : 0.0f;
    if (t % 32 != 0) { if (seen < 0.0f) y[t] = seen; return; }
    for (int i = t; i < n; i += all)
        for (int k = i; k < i + 32 && k < n; k++) y[k] = s * x[k];
}
//= wrong nothing is read: y[1] is 0, and should be 2.5
__global__ void scale(float *y, const float *x, float s, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = 0.0f;
}
//= wrong the answer buffer as it is: 
__global__ void scale(float *y, const float *x, float s, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += 0.0f * s * x[i];
}
//= wrong whole warps write what they read back: 
__global__ void scale(float *y, const float *x, float s, int n) {
    int first = blockDim.x * blockIdx.x + threadIdx.x;
    for (int i = first; i < n; i += blockDim.x * gridDim.x) y[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = s * y[i];
}
