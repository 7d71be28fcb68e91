//= right a correction only where the maximum grows
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    __shared__ float ms[128], ls[128];
    const float *row = in + blockIdx.x * columns;
    float m = -1e30f, l = 0.0f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        float x = scale * row[j];
        if (x > m) { l = l * expf(m - x) + 1.0f; m = x; }
        else l += expf(x - m);
    }
    ms[threadIdx.x] = m;
    ls[threadIdx.x] = l;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            float other = ms[threadIdx.x + s], larger = fmaxf(ms[threadIdx.x], other);
            ls[threadIdx.x] = ls[threadIdx.x] * expf(ms[threadIdx.x] - larger) + ls[threadIdx.x + s] * expf(other - larger);
            ms[threadIdx.x] = larger;
        }
        __syncthreads();
    }
    float per = 1.0f / ls[0];
    for (int j = threadIdx.x; j < columns; j += blockDim.x)
        out[blockIdx.x * columns + j] = expf(scale * row[j] - ms[0]) * per;
}
//= right shuffles within the warps
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    __shared__ float ms[4], ls[4];
    const float *row = in + blockIdx.x * columns;
    float m = -1e30f, l = 0.0f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        float x = scale * row[j], larger = fmaxf(m, x);
        l = l * expf(m - larger) + expf(x - larger);
        m = larger;
    }
    for (int s = 16; s > 0; s /= 2) {
        float om = __shfl_xor_sync(0xffffffff, m, s), ol = __shfl_xor_sync(0xffffffff, l, s);
        float larger = fmaxf(m, om);
        l = l * expf(m - larger) + ol * expf(om - larger);
        m = larger;
    }
    if (threadIdx.x % 32 == 0) { ms[threadIdx.x / 32] = m; ls[threadIdx.x / 32] = l; }
    __syncthreads();
    float all = -1e30f, sum = 0.0f;
    for (int w = 0; w < blockDim.x / 32; w++) all = fmaxf(all, ms[w]);
    for (int w = 0; w < blockDim.x / 32; w++) sum += ls[w] * expf(ms[w] - all);
    for (int j = threadIdx.x; j < columns; j += blockDim.x)
        out[blockIdx.x * columns + j] = expf(scale * row[j] - all) / sum;
}
//= right the row kept in shared memory, the maximum first
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    __shared__ float x[300], part[128];
    int t = threadIdx.x;
    const float *row = in + blockIdx.x * columns;
    float m = -1e30f;
    for (int j = t; j < columns; j += blockDim.x) { x[j] = scale * row[j]; m = fmaxf(m, x[j]); }
    part[t] = m;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    m = part[0];
    __syncthreads();
    float l = 0.0f;
    for (int j = t; j < columns; j += blockDim.x) { x[j] = expf(x[j] - m); l += x[j]; }
    part[t] = l;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    for (int j = t; j < columns; j += blockDim.x) out[blockIdx.x * columns + j] = x[j] / part[0];
}
//= wrong three reads: global_loads is
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    __shared__ float part[128];
    int t = threadIdx.x;
    const float *row = in + blockIdx.x * columns;
    float m = -1e30f;
    for (int j = t; j < columns; j += blockDim.x) m = fmaxf(m, scale * row[j]);
    part[t] = m;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    m = part[0];
    __syncthreads();
    float l = 0.0f;
    for (int j = t; j < columns; j += blockDim.x) l += expf(scale * row[j] - m);
    part[t] = l;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    for (int j = t; j < columns; j += blockDim.x) out[blockIdx.x * columns + j] = expf(scale * row[j] - m) / part[0];
}
//= wrong without the maximum: scale = 300
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    __shared__ float part[128];
    int t = threadIdx.x;
    const float *row = in + blockIdx.x * columns;
    float l = 0.0f;
    for (int j = t; j < columns; j += blockDim.x) l += expf(scale * row[j]);
    part[t] = l;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    for (int j = t; j < columns; j += blockDim.x) out[blockIdx.x * columns + j] = expf(scale * row[j]) / part[0];
}
//= wrong equal weights: out[0] is 0.2, and should be
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    for (int j = threadIdx.x; j < columns; j += blockDim.x) out[blockIdx.x * columns + j] = 1.0f / columns;
}
//= wrong one thread a row: active_threads is 3
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    if (threadIdx.x != 0) return;
    const float *row = in + blockIdx.x * columns;
    float m = -1e30f, l = 0.0f;
    for (int j = 0; j < columns; j++) {
        float x = scale * row[j], larger = fmaxf(m, x);
        l = l * expf(m - larger) + expf(x - larger);
        m = larger;
    }
    for (int j = 0; j < columns; j++) out[blockIdx.x * columns + j] = expf(scale * row[j] - m) / l;
}
//= wrong no correction: Two threads have different m
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    __shared__ float ms[128], ls[128];
    int t = threadIdx.x;
    const float *row = in + blockIdx.x * columns;
    float m = -1e30f, l = 0.0f;
    for (int j = t; j < columns; j += blockDim.x) {
        float x = scale * row[j];
        m = fmaxf(m, x);
        l += expf(x - m);
    }
    ms[t] = m;
    ls[t] = l;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) { ms[t] = fmaxf(ms[t], ms[t + s]); ls[t] += ls[t + s]; }
        __syncthreads();
    }
    for (int j = t; j < columns; j += blockDim.x) out[blockIdx.x * columns + j] = expf(scale * row[j] - ms[0]) / ls[0];
}
//= wrong hard-coded block of 128: block = 32
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    __shared__ float ms[128], ls[128];
    int t = threadIdx.x;
    const float *row = in + blockIdx.x * columns;
    float m = -1e30f, l = 0.0f;
    for (int j = t; j < columns; j += 128) {
        float x = scale * row[j], larger = fmaxf(m, x);
        l = l * expf(m - larger) + expf(x - larger);
        m = larger;
    }
    ms[t] = m;
    ls[t] = l;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) {
            float larger = fmaxf(ms[t], ms[t + s]);
            ls[t] = ls[t] * expf(ms[t] - larger) + ls[t + s] * expf(ms[t + s] - larger);
            ms[t] = larger;
        }
        __syncthreads();
    }
    for (int j = t; j < columns; j += 128) out[blockIdx.x * columns + j] = expf(scale * row[j] - ms[0]) / ls[0];
}
//= wrong one row for all: rows = 3
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    __shared__ float ms[128], ls[128];
    int t = threadIdx.x;
    float m = -1e30f, l = 0.0f;
    for (int j = t; j < columns; j += blockDim.x) {
        float x = scale * in[j], larger = fmaxf(m, x);
        l = l * expf(m - larger) + expf(x - larger);
        m = larger;
    }
    ms[t] = m;
    ls[t] = l;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) {
            float larger = fmaxf(ms[t], ms[t + s]);
            ls[t] = ls[t] * expf(ms[t] - larger) + ls[t + s] * expf(ms[t + s] - larger);
            ms[t] = larger;
        }
        __syncthreads();
    }
    for (int j = t; j < columns; j += blockDim.x) out[blockIdx.x * columns + j] = expf(scale * in[j] - ms[0]) / ls[0];
}
//= wrong the answer buffer as it is: 
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    const float *row = in + blockIdx.x * columns;
    float m = 0.0f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) m += 0.0f * scale * row[j];
    for (int j = threadIdx.x; j < columns; j += blockDim.x) out[blockIdx.x * columns + j] += m;
}
//= wrong the largest score that these inputs can have: and should be
__global__ void softmax(const float *in, float *out, float scale, int columns) {
    __shared__ float ls[128];
    int t = threadIdx.x;
    const float *row = in + blockIdx.x * columns;
    float l = 0.0f;
    for (int j = t; j < columns; j += blockDim.x) l += expf(scale * row[j] - scale);
    ls[t] = l;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) ls[t] += ls[t + s];
        __syncthreads();
    }
    for (int j = t; j < columns; j += blockDim.x) out[blockIdx.x * columns + j] = expf(scale * row[j] - scale) / ls[0];
}
