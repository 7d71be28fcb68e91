//= right the warps share each sum of x A, by shuffles
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float h[64];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int k = warp; k < r; k += blockDim.x / 32) {
        float sum = 0.0f;
        for (int i = lane; i < n; i += 32) sum += x[i] * A[i * r + k];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (lane == 0) h[k] = s * sum;
    }
    __syncthreads();
    for (int j = threadIdx.x; j < m; j += blockDim.x) {
        float sum = y[j];
        for (int k = 0; k < r; k++) sum += h[k] * B[k * m + j];
        y[j] = sum;
    }
}
//= right neighbouring threads read neighbouring elements of A, then a sum over shared memory
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float part[128];
    int t = threadIdx.x, k = t % r, groups = blockDim.x / r;
    float sum = 0.0f;
    for (int i = t / r; i < n; i += groups) sum += x[i] * A[i * r + k];
    part[t] = sum;
    __syncthreads();
    for (int size = groups / 2; size > 0; size /= 2) {
        if (t < size * r) part[t] += part[t + size * r];
        __syncthreads();
    }
    for (int j = t; j < m; j += blockDim.x) {
        float all = 0.0f;
        for (int c = r - 1; c >= 0; c--) all += part[c] * B[c * m + j];
        y[j] += s * all;
    }
}
//= right x kept in shared memory, one pointer that moves
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float in[256], h[64];
    for (int i = threadIdx.x; i < n; i += blockDim.x) in[i] = x[i];
    __syncthreads();
    for (int k = threadIdx.x; k < r; k += blockDim.x) {
        const float *a = A + k;
        float sum = 0.0f;
        for (int i = 0; i < n; i++, a += r) sum += in[i] * *a;
        h[k] = sum * s;
    }
    __syncthreads();
    for (int j = m - 1 - (int)threadIdx.x; j >= 0; j -= blockDim.x) {
        const float *b = B + j;
        float sum = 0.0f;
        for (int k = 0; k < r; k++, b += m) sum += h[k] * *b;
        y[j] += sum;
    }
}
//= right one number of x A after the other, all threads at each
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float part[128];
    int t = threadIdx.x;
    float first = 0.0f, second = 0.0f;
    for (int k = 0; k < r; k++) {
        float sum = 0.0f;
        for (int i = t; i < n; i += blockDim.x) sum += x[i] * A[i * r + k];
        part[t] = sum;
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (t < half) part[t] += part[t + half];
            __syncthreads();
        }
        float h = part[0];
        __syncthreads();
        if (t < m) first += h * B[k * m + t];
        if (t + 128 < m) second += h * B[k * m + t + 128];
    }
    if (t < m) y[t] += s * first;
    if (t + 128 < m) y[t + 128] += s * second;
}
//= right atomics collect the parts of x A
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float h[16];
    int t = threadIdx.x;
    if (t < r) h[t] = 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int i = t / r; i < n; i += blockDim.x / r) sum += x[i] * A[i * r + t % r];
    atomicAdd(&h[t % r], sum);
    __syncthreads();
    for (int j = t; j < m; j += blockDim.x) {
        float all = 0.0f;
        for (int k = 0; k < r; k++) all += h[k] * B[k * m + j];
        y[j] += s * all;
    }
}
//= wrong one thread does all: active_threads is 1, and must be
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    if (threadIdx.x != 0) return;
    float h[16];
    for (int k = 0; k < r; k++) h[k] = 0.0f;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < r; k++) h[k] += x[i] * A[i * r + k];
    for (int j = 0; j < m; j++) {
        float sum = 0.0f;
        for (int k = 0; k < r; k++) sum += h[k] * B[k * m + j];
        y[j] += s * sum;
    }
}
//= wrong one thread does all, the others write zeros first: warp_instructions is
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float h[128];
    h[threadIdx.x] = 0.0f;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < r; k++) h[k] += x[i] * A[i * r + k];
    for (int j = 0; j < m; j++) {
        float sum = 0.0f;
        for (int k = 0; k < r; k++) sum += h[k] * B[k * m + j];
        y[j] += s * sum;
    }
}
//= wrong thread 0 computes all of x A: warp_instructions is
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float h[16];
    if (threadIdx.x == 0)
        for (int k = 0; k < r; k++) {
            float sum = 0.0f;
            for (int i = 0; i < n; i++) sum += x[i] * A[i * r + k];
            h[k] = sum;
        }
    __syncthreads();
    for (int j = threadIdx.x; j < m; j += blockDim.x) {
        float sum = 0.0f;
        for (int k = 0; k < r; k++) sum += h[k] * B[k * m + j];
        y[j] += s * sum;
    }
}
//= wrong each thread computes x A for itself: global_loads is 516
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    float h[16];
    for (int k = 0; k < r; k++) {
        h[k] = 0.0f;
        for (int i = 0; i < n; i++) h[k] += x[i] * A[i * r + k];
    }
    for (int j = threadIdx.x; j < m; j += blockDim.x) {
        float sum = 0.0f;
        for (int k = 0; k < r; k++) sum += h[k] * B[k * m + j];
        y[j] += s * sum;
    }
}
//= wrong the numbers of the first test: global_loads is 2, and must be
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    int t = threadIdx.x;
    if (t < m) y[t] += t == 0 ? 110.0f : 132.0f;
}
//= wrong a factor of 2 instead of s: any n, r and m: n = 49
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float h[16];
    int t = threadIdx.x;
    if (t < r) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) sum += x[i] * A[i * r + t];
        h[t] = 2.0f * sum;
    }
    __syncthreads();
    for (int j = t; j < m; j += blockDim.x) {
        float sum = 0.0f;
        for (int k = 0; k < r; k++) sum += h[k] * B[k * m + j];
        y[j] += sum;
    }
}
//= wrong y as it is, after reading all: y[0] is 100, and should be 210
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n * r; i += blockDim.x) sum += A[i] * x[i / r];
    for (int i = threadIdx.x; i < r * m; i += blockDim.x) sum += B[i];
    for (int j = threadIdx.x; j < m; j += blockDim.x) y[j] += 0.0f * sum * s;
}
//= wrong y replaced, not added to: y[0] is 110, and should be 210
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float h[16];
    int t = threadIdx.x;
    if (t < r) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) sum += x[i] * A[i * r + t];
        h[t] = sum;
    }
    __syncthreads();
    for (int j = t; j < m; j += blockDim.x) {
        float sum = 0.0f;
        for (int k = 0; k < r; k++) sum += h[k] * B[k * m + j];
        y[j] = s * sum;
    }
}
//= wrong only as many outputs as threads: m = 130
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float h[16];
    int t = threadIdx.x;
    if (t < r) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) sum += x[i] * A[i * r + t];
        h[t] = sum;
    }
    __syncthreads();
    if (t < m) {
        float sum = 0.0f;
        for (int k = 0; k < r; k++) sum += h[k] * B[k * m + t];
        y[t] += s * sum;
    }
}
//= wrong no guard on the outputs: reads element 32 of B, which ends at 1
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float h[16];
    int t = threadIdx.x;
    if (t < r) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) sum += x[i] * A[i * r + t];
        h[t] = sum;
    }
    __syncthreads();
    for (int j = t; j < m + blockDim.x; j += blockDim.x) {
        float sum = 0.0f;
        for (int k = 0; k < r; k++) sum += h[k] * B[k * m + j];
        y[j] += s * sum;
    }
}
//= wrong A column by column: n = 49, r = 4
__global__ void adapt(const float *x, const float *A, const float *B, float *y, float s, int n, int r, int m) {
    __shared__ float h[16];
    int t = threadIdx.x;
    if (t < r) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) sum += x[i] * A[t * n + i];
        h[t] = sum;
    }
    __syncthreads();
    for (int j = t; j < m; j += blockDim.x) {
        float sum = 0.0f;
        for (int k = 0; k < r; k++) sum += h[k] * B[k * m + j];
        y[j] += s * sum;
    }
}
