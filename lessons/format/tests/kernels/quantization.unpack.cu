//= right a grid-stride loop over rows
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
        const unsigned char *row = packed + r * (columns / 2);
        float sum = 0.0f;
        for (int g = 0; g < columns / group; g++) {
            float part = 0.0f;
            for (int j = g * group; j < (g + 1) * group; j += 2) {
                int b = row[j / 2];
                part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
            }
            sum += scales[r * (columns / group) + g] * part;
        }
        y[r] = sum;
    }
}
//= right the inputs in shared memory, bytes and groups from the last
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    __shared__ float in[128];
    for (int j = threadIdx.x; j < columns; j += blockDim.x) in[j] = x[j];
    __syncthreads();
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        int groups = columns / group;
        float sum = 0.0f;
        for (int g = groups - 1; g >= 0; g--) {
            float scale = scales[r * groups + g];
            for (int k = (g + 1) * group / 2 - 1; k >= g * group / 2; k--) {
                unsigned b = packed[r * columns / 2 + k];
                sum += scale * ((float)(b & 15u) - 8.0f) * in[2 * k];
                sum += scale * ((float)(b / 16u) - 8.0f) * in[2 * k + 1];
            }
        }
        y[r] = sum;
    }
}
//= right a warp a row, with shuffles
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32, groups = columns / group;
    for (int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32; r < rows; r += warps) {
        float mine = lane < groups ? scales[r * groups + lane] : 0.0f, sum = 0.0f;
        for (int first = 0; first < columns / 2; first += 32) {
            int k = first + lane;
            float scale = __shfl_sync(0xffffffff, mine, 2 * k / group % 32);
            if (k < columns / 2) {
                int b = packed[r * (columns / 2) + k];
                sum += scale * (((b & 15) - 8) * x[2 * k] + ((b >> 4) - 8) * x[2 * k + 1]);
            }
        }
        for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffff, sum, s);
        if (lane == 0) y[r] = sum;
    }
}
//= right the zero point taken off once a group
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f, inputs = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = packed[(r * columns + j) / 2];
            float low = x[j], high = x[j + 1];
            part += (b % 16) * low + (b / 16) * high;
            inputs += low + high;
        }
        sum = fmaf(scales[r * (columns / group) + g], part - 8.0f * inputs, sum);
    }
    y[r] = sum;
}
//= right one loop over bytes, a new scale where a group begins
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f, scale = 0.0f;
    for (int k = 0; k < columns / 2; k++) {
        if (2 * k % group == 0) scale = scales[(r * columns + 2 * k) / group];
        unsigned char b = packed[r * (columns / 2) + k];
        sum += scale * ((b & 0x0f) - 8) * x[2 * k];
        sum += scale * ((b & 0xf0) / 16 - 8) * x[2 * k + 1];
    }
    y[r] = sum;
}
//= right two bytes and four inputs a load
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 4) {
            float4 in = *(const float4 *)(x + j);
            uchar2 b = *(const uchar2 *)(packed + r * (columns / 2) + j / 2);
            part += ((b.x & 15) - 8) * in.x + ((b.x >> 4) - 8) * in.y;
            part += ((b.y & 15) - 8) * in.z + ((b.y >> 4) - 8) * in.w;
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong one thread does all: active_threads is 1
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r != 0) return;
    for (r = 0; r < rows; r++) {
        const unsigned char *row = packed + r * (columns / 2);
        float sum = 0.0f;
        for (int g = 0; g < columns / group; g++) {
            float part = 0.0f;
            for (int j = g * group; j < (g + 1) * group; j += 2) {
                int b = row[j / 2];
                part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
            }
            sum += scales[r * (columns / group) + g] * part;
        }
        y[r] = sum;
    }
}
//= wrong one thread a block: active_threads is 3
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    if (threadIdx.x != 0) return;
    for (int r = blockIdx.x * blockDim.x; r < min(rows, (int)((blockIdx.x + 1) * blockDim.x)); r++) {
        const unsigned char *row = packed + r * (columns / 2);
        float sum = 0.0f;
        for (int g = 0; g < columns / group; g++) {
            float part = 0.0f;
            for (int j = g * group; j < (g + 1) * group; j += 2) {
                int b = row[j / 2];
                part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
            }
            sum += scales[r * (columns / group) + g] * part;
        }
        y[r] = sum;
    }
}
//= wrong every thread does all: global_loads is 224
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    for (int r = 0; r < rows; r++) {
        const unsigned char *row = packed + r * (columns / 2);
        float sum = 0.0f;
        for (int g = 0; g < columns / group; g++) {
            float part = 0.0f;
            for (int j = g * group; j < (g + 1) * group; j += 2) {
                int b = row[j / 2];
                part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
            }
            sum += scales[r * (columns / group) + g] * part;
        }
        y[r] = sum;
    }
}
//= wrong the first result, reading nothing: global_loads is 0
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    y[r] = 2.0f;
}
//= wrong the first result, after reading: y[0] is 0, and should be
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = rows == 1 ? 2.0f : sum > 1e9f ? sum : 0.0f;
}
//= wrong the packed bytes of the first test: and should be
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    y[r] = scales[r] * (0.0f * x[0] + x[1] + 2.0f * x[2] - x[3]);
}
//= wrong a scale of a half: and should be
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += 0.5f * part;
    }
    y[r] = sum;
}
//= wrong a copy of the inputs: y[0] is 1, and should be 2
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    y[r] = x[r % columns];
}
//= wrong a copy of the scales: y[0] is 0.5, and should be 2
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    y[r] = scales[r * (columns / group)];
}
//= wrong the answer buffer as it is: which was never written
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] += 0.0f * sum;
}
//= wrong nothing at all: y[0] is not written
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
}
//= wrong without the guard: of packed, which ends at 1
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong a block of 32: block = 64
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * 32 + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong a block of 64: y[32] is not written
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * 64 + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong the first group alone: and should be
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < 1; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong one scale a row: and should be
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[r] * part;
    }
    y[r] = sum;
}
//= wrong the scales column by column: and should be
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[g * rows + r] * part;
    }
    y[r] = sum;
}
//= wrong the bytes of the first row: y[1] is
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + 0;
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong rows of a byte a weight: of packed, which ends at 159
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * columns;
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong halves with a sign: y[0] is -6
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 8) != 0 ? (b & 15) - 16 : (b & 15)) * x[j] + ((b >> 4) > 7 ? (b >> 4) - 16 : (b >> 4)) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong a zero point of 7: y[0] is 7
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 7) * x[j] + ((b >> 4) - 7) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong the high halves left out: halves of a byte are exchanged
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 15) - 8) * x[j] + (0) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong halves of seven levels: y[0] is -14
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char *row = packed + r * (columns / 2);
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j += 2) {
            int b = row[j / 2];
            part += ((b & 7) - 8) * x[j] + ((b >> 4) - 8) * x[j + 1];
        }
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong each byte twice: global_loads is 9
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int g = 0; g < columns / group; g++) {
        float part = 0.0f;
        for (int j = g * group; j < (g + 1) * group; j++) part += ((packed[(r * columns + j) / 2] >> j % 2 * 4 & 15) - 8) * x[j];
        sum += scales[r * (columns / group) + g] * part;
    }
    y[r] = sum;
}
//= wrong a scale for each weight: global_loads is 10
__global__ void multiply(const unsigned char *packed, const float *scales, const float *x, float *y, int rows, int columns, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j += 2) {
        int b = packed[(r * columns + j) / 2];
        sum += scales[(r * columns + j) / group] * ((b & 15) - 8) * x[j];
        sum += scales[(r * columns + j) / group] * ((b >> 4) - 8) * x[j + 1];
    }
    y[r] = sum;
}
