//= right a grid-stride loop
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < tokens; t += gridDim.x * blockDim.x) {
        const float *key = keys + (table[t / page] * page + t % page) * d;
        float sum = 0.0f;
        for (int j = 0; j < d; j++) sum += q[j] * key[j];
        out[t] = sum;
    }
}
//= right the query in shared memory, numbers from the last
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    __shared__ float query[64];
    for (int j = threadIdx.x; j < d; j += blockDim.x) query[j] = q[j];
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < tokens) {
        int number = t / page, within = t - number * page;
        const float *key = keys + table[number] * page * d + within * d;
        float sum = 0.0f;
        for (int j = d - 1; j >= 0; j--) sum = fmaf(key[j], query[j], sum);
        out[t] = sum;
    }
}
//= right loops over pages, and the tokens of each
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int first = blockIdx.x * blockDim.x, end = min(first + (int)blockDim.x, tokens);
    for (int p = first / page; p * page < end; p++) {
        int t = first + threadIdx.x;
        if (t >= end || t < p * page || t >= (p + 1) * page) continue;
        const float *key = keys + (table[p] * page + t - p * page) * d;
        float even = 0.0f, odd = 0.0f;
        for (int j = 0; j < d; j += 2) even += q[j] * key[j];
        for (int j = 1; j < d; j += 2) odd += q[j] * key[j];
        out[t] = even + odd;
    }
}
//= right a warp a token, with shuffles
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    for (int t = (blockIdx.x * blockDim.x + threadIdx.x) / 32; t < tokens; t += warps) {
        int entry = lane == 0 ? table[t / page] : 0;
        int place = __shfl_sync(0xffffffff, entry, 0) * page + t % page;
        float sum = 0.0f;
        for (int j = lane; j < d; j += 32) sum += q[j] * keys[place * d + j];
        for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffff, sum, s);
        if (lane == 0) out[t] = sum;
    }
}
//= right a token for neighbouring pairs of threads
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int half = threadIdx.x % 2;
    for (int s = 0; s < 2; s++) {
        int t = blockIdx.x * blockDim.x + s * (blockDim.x / 2) + threadIdx.x / 2;
        int entry = t < tokens && half == 0 ? table[t / page] : 0;
        int place = (entry + __shfl_xor_sync(0xffffffff, entry, 1)) * page + t % page;
        float sum = 0.0f;
        if (t < tokens) {
            for (int j = half; j < d; j += 2) sum += q[j] * keys[place * d + j];
        }
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        if (t < tokens && half == 0) out[t] = sum;
    }
}
//= right four numbers a load
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    int place = table[t / page] * page + t % page, j = 0;
    const float *key = keys + place * d;
    float sum = 0.0f;
    for (; j + 4 <= d; j += 4) {
        float4 a = *(const float4 *)(q + j), b = *(const float4 *)(key + j);
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (; j < d; j++) sum += q[j] * key[j];
    out[t] = sum;
}
//= wrong one thread does all: active_threads is 1
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t != 0) return;
    for (t = 0; t < tokens; t++) {
        const float *key = keys + (table[t / page] * page + t % page) * d;
        float sum = 0.0f;
        for (int j = 0; j < d; j++) sum += q[j] * key[j];
        out[t] = sum;
    }
}
//= wrong one thread a block: active_threads is 1
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    if (threadIdx.x != 0) return;
    for (int t = blockIdx.x * blockDim.x; t < min(tokens, (int)((blockIdx.x + 1) * blockDim.x)); t++) {
        const float *key = keys + (table[t / page] * page + t % page) * d;
        float sum = 0.0f;
        for (int j = 0; j < d; j++) sum += q[j] * key[j];
        out[t] = sum;
    }
}
//= wrong every thread does all: global_loads is 480
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    for (int t = 0; t < tokens; t++) {
        const float *key = keys + (table[t / page] * page + t % page) * d;
        float sum = 0.0f;
        for (int j = 0; j < d; j++) sum += q[j] * key[j];
        out[t] = sum;
    }
}
//= wrong reads nothing: global_loads is 0
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    out[t] = t == 0 ? 4.0f : t == 1 ? 5.0f : t == 2 ? 0.0f : t == 3 ? 1.0f : 6.0f;
}
//= wrong the scores of the first test, after reading: out[0] is 4, and should be
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    float sum = 0.0f;
    const float *key = keys + (table[t / page] * page + t % page) * d;
    for (int j = 0; j < d; j++) sum += q[j] * key[j];
    out[t] = t == 0 ? 4.0f : t == 1 ? 5.0f : t == 2 ? 0.0f : t == 3 ? 1.0f : sum > 1e9f ? sum : 6.0f;
}
//= wrong the table of the first test: and should be
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    const float *key = keys + ((t / page == 0 ? 2 : t / page == 1 ? 0 : 3) * page + t % page) * d;
    float sum = 0.0f;
    for (int j = 0; j < d; j++) sum += q[j] * key[j];
    out[t] = sum;
}
//= wrong the table of the second test from memory, without reading it: another table
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    int in_first[3] = {2, 0, 3}, in_second[8] = {5, 2, 7, 0, 3, 6, 1, 4};
    const float *key = keys + ((d == 1 ? in_first[t / page] : in_second[t / page]) * page + t % page) * d;
    float sum = 0.0f;
    for (int j = 0; j < d; j++) sum += q[j] * key[j];
    out[t] = sum;
}
//= wrong a copy of keys: and should be
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    out[t] = keys[table[t / page] * page + t % page];
}
//= wrong a copy of the table: and should be
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    out[t] = table[t / page] * page + t % page;
}
//= wrong the answer buffer as it is: which was never written
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    out[t] += 0.0f * q[0];
}
//= wrong nothing at all: out[0] is not written
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
}
//= wrong without the guard: of table, which ends at 2
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    const float *key = keys + (table[t / page] * page + t % page) * d;
    float sum = 0.0f;
    for (int j = 0; j < d; j++) sum += q[j] * key[j];
    out[t] = sum;
}
//= wrong a block of 32: block = 64
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * 32 + threadIdx.x;
    if (t >= tokens) return;
    const float *key = keys + (table[t / page] * page + t % page) * d;
    float sum = 0.0f;
    for (int j = 0; j < d; j++) sum += q[j] * key[j];
    out[t] = sum;
}
//= wrong the first block alone: out[8] is not written
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = threadIdx.x;
    if (t >= tokens || t >= 8) return;
    const float *key = keys + (table[t / page] * page + t % page) * d;
    float sum = 0.0f;
    for (int j = 0; j < d; j++) sum += q[j] * key[j];
    out[t] = sum;
}
//= wrong the entry of the token within the page: out[1] is 0, and should be 5
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    const float *key = keys + (table[t % page] * page + t / page) * d;
    float sum = 0.0f;
    for (int j = 0; j < d; j++) sum += q[j] * key[j];
    out[t] = sum;
}
//= wrong pages of two: and should be
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    const float *key = keys + (table[t / 2] * 2 + t % 2) * d;
    float sum = 0.0f;
    for (int j = 0; j < d; j++) sum += q[j] * key[j];
    out[t] = sum;
}
//= wrong the numbers of a page one after another: and should be
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    int place = table[t / page] * page * d + t % page;
    float sum = 0.0f;
    for (int j = 0; j < d; j++) sum += q[j] * keys[place + j * page];
    out[t] = sum;
}
//= wrong the first number of the query: and should be
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    const float *key = keys + (table[t / page] * page + t % page) * d;
    float sum = 0.0f;
    for (int j = 0; j < d; j++) sum += q[0] * key[j];
    out[t] = sum;
}
//= wrong eight numbers at most: d = 16
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    const float *key = keys + (table[t / page] * page + t % page) * d;
    float sum = 0.0f;
    for (int j = 0; j < min(d, 8); j++) sum += q[j] * key[j];
    out[t] = sum;
}
//= wrong a lookup for each number: global_loads is 216
__global__ void scores(const float *q, const float *keys, const int *table, float *out, int tokens, int page, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    float sum = 0.0f;
    for (int j = 0; j < d; j++) sum += q[j] * keys[(table[t / page] * page + t % page) * d + j];
    out[t] = sum;
}
