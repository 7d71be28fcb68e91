//= right every lane gets the sum
__global__ void total(const float *in, float *out, int n) {
    float sum = 0.0f;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
    for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if ((threadIdx.x & 31) == 31) atomicAdd(out, sum);
}
//= right a piece for each block, two sums a thread
__global__ void total(const float *in, float *out, int n) {
    int piece = (n + gridDim.x - 1) / gridDim.x, end = min((blockIdx.x + 1) * piece, n);
    float even = 0.0f, odd = 0.0f;
    int i = blockIdx.x * piece + threadIdx.x;
    for (; i + blockDim.x < end; i += 2 * blockDim.x) { even += in[i]; odd += in[i + blockDim.x]; }
    if (i < end) even += in[i];
    even += odd;
    for (int s = 16; s > 0; s /= 2) even += __shfl_down_sync(0xffffffff, even, s);
    if (threadIdx.x % 32 == 0) atomicAdd(&out[0], even);
}
//= right each warp goes along alone
__global__ void total(const float *in, float *out, int n) {
    int lane = threadIdx.x % 32;
    int warp = (blockDim.x * blockIdx.x + threadIdx.x) / 32, warps = blockDim.x * gridDim.x / 32;
    float sum = 0.0f;
    for (int base = 32 * warp; base < n; base += 32 * warps)
        if (base + lane < n) sum += in[base + lane];
    #pragma unroll
    for (int s = 1; s < 32; s *= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (lane == 0) atomicAdd(&out[0], sum);
}
//= wrong an atomic for each element: global_atomics is 32, and must be at most 1
__global__ void total(const float *in, float *out, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&out[0], in[i]);
}
//= wrong one thread: active_threads is 1
__global__ void total(const float *in, float *out, int n) {
    if (blockIdx.x + threadIdx.x == 0)
        for (int i = 0; i < n; i++) out[0] += in[i];
}
//= wrong one warp: active_threads is 32
__global__ void total(const float *in, float *out, int n) {
    if (blockIdx.x != 0 || threadIdx.x >= 32) return;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) sum += in[i];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (threadIdx.x == 0) atomicAdd(&out[0], sum);
}
//= wrong the expected mean: out[0] is 16, and should be
__global__ void total(const float *in, float *out, int n) {
    if (blockIdx.x + threadIdx.x == 0) out[0] = 0.5f * n;
}
//= wrong through shared memory: shared_bytes_per_block is
__global__ void total(const float *in, float *out, int n) {
    __shared__ float part[32];
    float sum = 0.0f;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0.0f;
        for (int w = 0; w < blockDim.x / 32; w++) all += part[w];
        atomicAdd(&out[0], all);
    }
}
//= wrong hard-coded stride of 256: each thread has to go on after its first
__global__ void total(const float *in, float *out, int n) {
    float sum = 0.0f;
    for (int i = 256 * blockIdx.x + threadIdx.x; i < n; i += 256 * gridDim.x) sum += in[i];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (threadIdx.x % 32 == 0) atomicAdd(&out[0], sum);
}
//= wrong stored, not added: writes it with no barrier between
__global__ void total(const float *in, float *out, int n) {
    float sum = 0.0f;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (threadIdx.x % 32 == 0) out[0] = sum;
}
//= wrong the answer buffer as it is: 
__global__ void total(const float *in, float *out, int n) {
    float sum = 0.0f;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += 0.0f * in[i];
    atomicAdd(out, sum);
}
//= wrong the cell read before it is added to: 
__global__ void total(const float *in, float *out, int n) {
    int first = blockDim.x * blockIdx.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = first; i < n; i += blockDim.x * gridDim.x) sum += in[i];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffff, sum, s);
    if (threadIdx.x % 32 == 0 && out[0] < 1e30f) atomicAdd(out, sum);
}
