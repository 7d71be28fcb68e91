//= right two levels of shuffles
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float part[32];
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    float sum = (tid < n ? in[tid] : 0.0f) + (tid + blockDim.x < n ? in[tid + blockDim.x] : 0.0f);
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? part[lane] : 0.0f;
        for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
        if (lane == 0) out[0] = sum;
    }
}
//= right shuffles that give every lane the sum
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float part[32];
    int tid = threadIdx.x, warps = blockDim.x / 32;
    float sum = (tid < n ? in[tid] : 0.0f) + (tid + blockDim.x < n ? in[tid + blockDim.x] : 0.0f);
    for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (tid % 32 == 0) part[tid / 32] = sum;
    __syncthreads();
    if (tid == 0) {
        float all = 0.0f;
        for (int w = 0; w < warps; w++) all += part[w];
        out[0] = all;
    }
}
//= right a loading loop in steps of the block
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float x[256];
    int tid = threadIdx.x;
    float sum = 0.0f;
    for (int i = tid; i < n; i += blockDim.x) sum += in[i];
    x[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) x[tid] += x[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[0] = x[0];
}
//= right two neighbours for each thread
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float x[256];
    int tid = threadIdx.x;
    float sum = 0.0f;
    if (2 * tid < n) sum += in[2 * tid];
    if (2 * tid + 1 < n) sum += in[2 * tid + 1];
    x[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) x[tid] += x[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[0] = x[0];
}
//= wrong closed form that reads: the numbers are not added
__global__ void reduce(const float *in, float *out, int n) {
    if (threadIdx.x < n && in[threadIdx.x] > 1e9f) out[0] = 0.0f;
    if (threadIdx.x == 0) out[0] = n * (n - 1) / 2;
}
//= wrong closed form: the numbers are not added
__global__ void reduce(const float *in, float *out, int n) {
    if (threadIdx.x == 0) out[0] = n * (n - 1) / 2;
}
//= wrong serial sum in thread 0: active_threads is 1
__global__ void reduce(const float *in, float *out, int n) {
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) sum += in[i];
        out[0] = sum;
    }
}
//= wrong serial sum of what all have loaded: warp_instructions is
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float x[256];
    int tid = threadIdx.x;
    x[tid] = (tid < n ? in[tid] : 0.0f) + (tid + blockDim.x < n ? in[tid + blockDim.x] : 0.0f);
    __syncthreads();
    if (tid == 0) {
        float sum = 0.0f;
        for (int i = 0; i < blockDim.x; i++) sum += x[i];
        out[0] = sum;
    }
}
//= wrong neighbours first: in each round, which threads add
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float x[256];
    int tid = threadIdx.x;
    x[tid] = (tid < n ? in[tid] : 0.0f) + (tid + blockDim.x < n ? in[tid + blockDim.x] : 0.0f);
    __syncthreads();
    for (int s = 1; s < blockDim.x; s <<= 1) {
        if ((tid & (2 * s - 1)) == 0) x[tid] += x[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[0] = x[0];
}
//= wrong hard-coded block of 256: which was never written
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float x[256];
    int tid = threadIdx.x;
    x[tid] = (tid < n ? in[tid] : 0.0f) + (tid + blockDim.x < n ? in[tid + blockDim.x] : 0.0f);
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s) x[tid] += x[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[0] = x[0];
}
//= wrong the expected sums of the first tests: the numbers are not added
__global__ void reduce(const float *in, float *out, int n) {
    float seen = threadIdx.x < n ? in[threadIdx.x] : 0.0f;
    if (threadIdx.x == 0) out[0] = seen > 1e9f ? seen : n == 512 ? 130816.0f : 79800.0f;
}
//= wrong all threads do all of it: warp_instructions is 28712
__global__ void reduce(const float *in, float *out, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += in[i];
    out[0] = sum;
}
//= wrong the answer buffer as it is: reads out[0], which was never written
__global__ void reduce(const float *in, float *out, int n) {
    float x = threadIdx.x < n ? in[threadIdx.x] : 0.0f;
    if (threadIdx.x == 0) out[0] += 0.0f * x;
}
//= wrong 256 atomicAdd on one cell: but threads add to one cell by atomics
__global__ void reduce(const float *in, float *out, int n) {
    if (threadIdx.x == 0) out[0] = 0.0f;
    __syncthreads();
    int tid = threadIdx.x;
    atomicAdd(&out[0], (tid < n ? in[tid] : 0.0f) + (tid + blockDim.x < n ? in[tid + blockDim.x] : 0.0f));
}
//= wrong 256 atomicAdd on one cell of shared memory: but threads add to one cell by atomics
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    int tid = threadIdx.x;
    atomicAdd(&sum, (tid < n ? in[tid] : 0.0f) + (tid + blockDim.x < n ? in[tid + blockDim.x] : 0.0f));
    __syncthreads();
    if (threadIdx.x == 0) out[0] = sum;
}
//= wrong an atomicAdd for each warp: but threads add to one cell by atomics
__global__ void reduce(const float *in, float *out, int n) {
    if (threadIdx.x == 0) out[0] = 0.0f;
    __syncthreads();
    int tid = threadIdx.x;
    float sum = (tid < n ? in[tid] : 0.0f) + (tid + blockDim.x < n ? in[tid + blockDim.x] : 0.0f);
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (threadIdx.x % 32 == 0) atomicAdd(&out[0], sum);
}
//= wrong 64 threads add to one cell of shared memory: but threads add to one cell by atomics
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float sum;
    int tid = threadIdx.x;
    if (tid == 0) sum = 0.0f;
    __syncthreads();
    if (tid < 64) {
        float own = 0.0f;
        for (int i = tid; i < n; i += 64) own += in[i];
        atomicAdd(&sum, own);
    }
    __syncthreads();
    if (tid == 0) out[0] = sum;
}
//= wrong shuffles, and an atomicAdd to shared memory for each warp: but threads add to one cell by atomics
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float all;
    int tid = threadIdx.x;
    if (tid == 0) all = 0.0f;
    __syncthreads();
    float sum = (tid < n ? in[tid] : 0.0f) + (tid + blockDim.x < n ? in[tid + blockDim.x] : 0.0f);
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (tid % 32 == 0) atomicAdd(&all, sum);
    __syncthreads();
    if (tid == 0) out[0] = all;
}
//= wrong all numbers in shared memory: If all n numbers go through shared memory
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float x[512];
    int tid = threadIdx.x, half = blockDim.x;
    x[tid] = tid < n ? in[tid] : 0.0f;
    x[tid + half] = tid + half < n ? in[tid + half] : 0.0f;
    __syncthreads();
    for (int s = half; s > 0; s /= 2) {
        if (tid < s) x[tid] += x[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[0] = x[0];
}
