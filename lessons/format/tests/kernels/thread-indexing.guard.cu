//= right the other way round
__global__ void add(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    C[i] = B[i] + A[i];
}
//= right grid-stride
__global__ void add(const float *A, const float *B, float *C, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        C[i] = A[i] + B[i];
}
//= right four neighbours a thread
__global__ void add(const float *A, const float *B, float *C, int n) {
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    #pragma unroll
    for (int k = 0; k < 4; k++)
        if (first + k < n) C[first + k] = A[first + k] + B[first + k];
}
//= right two halves of a range by pointers
__global__ void add(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int all = blockDim.x * gridDim.x;
    if (i < n) *(C + i) = *(A + i) + *(B + i);
    if (i + all < n) C[i + all] = A[i + all] + B[i + all];
}
//= right vector loads
__global__ void add(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 a = reinterpret_cast<const float4 *>(A)[i], b = reinterpret_cast<const float4 *>(B)[i];
        reinterpret_cast<float4 *>(C)[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
    if (i >= n / 4 * 4 && i < n) C[i] = A[i] + B[i];
}
//= wrong closed form of the first tests: global_loads is 0, and must be at least 2 (2 * n)
__global__ void add(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) C[i] = n == 1 ? 2.0f : i + 1.0f;
}
//= wrong closed form that reads: any n, any block: n = 1, block = 4, more = 0: C[0] is 2, and should be
__global__ void add(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float a = A[i], b = B[i];
        C[i] = a + b > 1e9f ? 0.0f : n == 1 ? 2.0f : i + 1.0f;
    }
}
//= wrong one thread: active_threads is 1, and must be at least
__global__ void add(const float *A, const float *B, float *C, int n) {
    if (blockIdx.x + threadIdx.x == 0)
        for (int i = 0; i < n; i++) C[i] = A[i] + B[i];
}
//= wrong one thread, the others look busy: warp_instructions is
__global__ void add(const float *A, const float *B, float *C, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float seen = t < n ? A[t] : 0.0f;
    if (t == 0)
        for (int i = 0; i < n; i++) C[i] = A[i] + B[i];
    if (seen < 0.0f) C[0] = seen;
}
//= wrong the first block does it all: active_threads is 4, and must be at least
__global__ void add(const float *A, const float *B, float *C, int n) {
    if (blockIdx.x == 0)
        for (int i = threadIdx.x; i < n; i += blockDim.x) C[i] = A[i] + B[i];
}
//= wrong hard-coded block of four: any n, any block
__global__ void add(const float *A, const float *B, float *C, int n) {
    int i = 4 * blockIdx.x + threadIdx.x;
    if (i < n) C[i] = A[i] + B[i];
}
//= wrong one input and a constant: global_loads is 1, and must be at least 2
__global__ void add(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) C[i] = A[i] + 1.0f;
}
//= wrong the answer buffer as it is: 
__global__ void add(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) C[i] += 0.0f * (A[i] + B[i]);
}
