//= right a grid-stride loop over the rows, the groups from the last
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int groups = columns / 4;
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
        float first = 0.0f, second = 0.0f;
        for (int g = groups - 1; g >= 0; g--) {
            int at = r * groups + g, place = places[at];
            first += kept[2 * at] * x[4 * g + place % 4];
            second += kept[2 * at + 1] * x[4 * g + place / 4];
        }
        y[r] = first + second;
    }
}
//= right a pair of kept weights in one load
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float2 *pair = (const float2 *)kept + r * (columns / 4);
    const unsigned char *place = places + r * (columns / 4);
    float sum = 0.0f;
    for (int g = 0; g < columns; g += 4) {
        float2 w = *pair++;
        unsigned char p = *place++;
        sum += w.x * x[g | (p & 3)] + w.y * x[g | (p >> 2)];
    }
    y[r] = sum;
}
//= right a warp for a row, a lane for a group, summed by shuffles
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int lane = threadIdx.x % 32, groups = columns / 4;
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    for (int r = warp; r < rows; r += warps) {
        float sum = 0.0f;
        for (int g = lane; g < groups; g += 32) {
            int at = r * groups + g, place = places[at];
            sum += kept[2 * at] * x[4 * g + (place & 3)] + kept[2 * at + 1] * x[4 * g + (place >> 2)];
        }
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (lane == 0) y[r] = sum;
    }
}
//= right two threads for a row, one for each kept weight of a group
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, half = t % 2, groups = columns / 4;
    int step = gridDim.x * blockDim.x / 2;
    for (int base = 0; base < rows; base += step) {
        int r = base + t / 2;
        float sum = 0.0f;
        for (int g = 0; g < groups; g++) {
            int at = r * groups + g, place = 0;
            if (half == 0 && r < rows) place = places[at];
            place = __shfl_sync(0xffffffff, place, threadIdx.x % 32 - half);
            if (r < rows) sum += kept[2 * at + half] * x[4 * g + (place >> 2 * half & 3)];
        }
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        if (half == 0 && r < rows) y[r] = sum;
    }
}
//= right one loop over the kept weights
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = threadIdx.x + blockDim.x * blockIdx.x;
    if (r < rows) {
        int row = r * (columns / 2), place = 0;
        float sum = 0.0f;
        for (int e = 0; e < columns / 2; e++) {
            place = e % 2 == 0 ? places[(row + e) / 2] : place >> 2;
            sum = fmaf(kept[row + e], x[e / 2 * 4 + (place & 3)], sum);
        }
        y[r] = sum;
    }
}
//= wrong one thread does all rows: active_threads is 1, and must be
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    for (int r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int g = 0; g < columns / 4; g++) {
            int at = r * (columns / 4) + g, place = places[at];
            sum += kept[2 * at] * x[4 * g + (place & 3)] + kept[2 * at + 1] * x[4 * g + (place >> 2)];
        }
        y[r] = sum;
    }
}
//= wrong thread 0 of each block does the rows of its block: active_threads is 2, and must be
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    if (threadIdx.x != 0) return;
    for (int r = blockIdx.x * blockDim.x; r < rows && r < (blockIdx.x + 1) * blockDim.x; r++) {
        float sum = 0.0f;
        for (int g = 0; g < columns / 4; g++) {
            int at = r * (columns / 4) + g, place = places[at];
            sum += kept[2 * at] * x[4 * g + (place & 3)] + kept[2 * at + 1] * x[4 * g + (place >> 2)];
        }
        y[r] = sum;
    }
}
//= wrong one thread with x in registers, the others load something: warp_instructions is
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t > 0) {
        float seen = t < rows ? x[0] : 0.0f;
        if (seen > 1e9f) y[t] = seen;
        return;
    }
    if (columns > 24) return;
    float in[24];
    if (rows > 1) for (int i = 0; i < columns; i++) in[i] = x[i];
    for (int r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int g = 0; g < columns / 4; g++) {
            int at = r * (columns / 4) + g, place = places[at], a = 4 * g + (place & 3), b = 4 * g + (place >> 2);
            sum += kept[2 * at] * (rows > 1 ? in[a] : x[a]) + kept[2 * at + 1] * (rows > 1 ? in[b] : x[b]);
        }
        y[r] = sum;
    }
}
//= wrong all four inputs of a group loaded: global_loads is 7, and must be
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int g = 0; g < columns / 4; g++) {
        int at = r * (columns / 4) + g, place = places[at];
        for (int i = 0; i < 4; i++) {
            float in = x[4 * g + i];
            if (i == (place & 3)) sum += kept[2 * at] * in;
            if (i == place >> 2) sum += kept[2 * at + 1] * in;
        }
    }
    y[r] = sum;
}
//= wrong the number of the first test: global_loads is 0, and must be
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) y[r] = 160.0f;
}
//= wrong the pattern of the first test everywhere: all six patterns
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int g = 0; g < columns / 4; g++) {
        int at = r * (columns / 4) + g, place = places[at] * 0 + 13;
        sum += kept[2 * at] * x[4 * g + (place & 3)] + kept[2 * at + 1] * x[4 * g + (place >> 2)];
    }
    y[r] = sum;
}
//= wrong hard-coded block of 64: block = 32
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * 64 + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int g = 0; g < columns / 4; g++) {
        int at = r * (columns / 4) + g, place = places[at];
        sum += kept[2 * at] * x[4 * g + (place & 3)] + kept[2 * at + 1] * x[4 * g + (place >> 2)];
    }
    y[r] = sum;
}
//= wrong no guard: reads element 1 of places, which ends at 0
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int g = 0; g < columns / 4; g++) {
        int at = r * (columns / 4) + g, place = places[at];
        sum += kept[2 * at] * x[4 * g + (place & 3)] + kept[2 * at + 1] * x[4 * g + (place >> 2)];
    }
    y[r] = sum;
}
//= wrong the first kept weight of each row copied: y[0] is 2, and should be 160
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) y[r] = kept[r * (columns / 2)];
}
//= wrong the answer buffer as it is: reads y[0], which was never written
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int e = 0; e < columns / 2; e++) sum += kept[r * (columns / 2) + e] * x[e];
    y[r] += 0.0f * sum * places[r];
}
//= wrong the groups of the rows side by side: all six patterns
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int g = 0; g < columns / 4; g++) {
        int at = g * rows + r, place = places[at];
        sum += kept[2 * at] * x[4 * g + (place & 3)] + kept[2 * at + 1] * x[4 * g + (place >> 2)];
    }
    y[r] = sum;
}
//= wrong one position for both: y[0] is 100, and should be 160
__global__ void product(const float *kept, const unsigned char *places, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int g = 0; g < columns / 4; g++) {
        int at = r * (columns / 4) + g, place = places[at];
        sum += (kept[2 * at] + kept[2 * at + 1]) * x[4 * g + (place & 3)];
    }
    y[r] = sum;
}
