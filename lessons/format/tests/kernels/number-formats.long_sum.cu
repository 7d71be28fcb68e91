//= right a grid-stride loop over the rows, from the last column
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int stride = gridDim.x * blockDim.x;
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += stride) {
        float sum = 0.0f;
        for (int j = columns - 1; j >= 0; j--)
            sum = fmaf(__bfloat162float(a[r * columns + j]), __bfloat162float(x[j]), sum);
        y[r] = sum;
    }
}
//= right a sum with a correction, as Kahan's
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        const __nv_bfloat16 *row = a + r * columns;
        float sum = 0.0f, lost = 0.0f;
        for (int j = 0; j < columns; j++) {
            float term = (float)row[j] * (float)x[j] - lost;
            float next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }
        y[r] = sum;
    }
}
//= right the lanes of a warp share each row, and shuffles
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int lane = threadIdx.x % 32;
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    for (int r = warp; r < rows; r += warps) {
        float sum = 0.0f;
        for (int j = lane; j < columns; j += 32) sum += (float)a[r * columns + j] * (float)x[j];
        for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
        if (lane == 0) y[r] = sum;
    }
}
//= right four sums, joined in pairs
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int j = 0; j < columns; j++) part[j % 4] += (float)a[r * columns + j] * (float)x[j];
    y[r] = (part[0] + part[1]) + (part[2] + part[3]);
}
//= right the sum in double
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double sum = 0.0;
    for (int j = 0; j < columns; j++) sum += (double)(float)a[r * columns + j] * (double)(float)x[j];
    y[r] = (float)sum;
}
//= right the bits of each factor, shifted into a float
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned short *p = reinterpret_cast<const unsigned short *>(a);
    const unsigned short *q = reinterpret_cast<const unsigned short *>(x);
    float sum = 0.0f;
    for (int j = 0; j < columns; j++)
        sum += __int_as_float((int)p[r * columns + j] << 16) * __int_as_float((int)q[j] << 16);
    y[r] = sum;
}
//= right sums of 16 products each, then a sum of these
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j += 16) {
        float some = 0.0f;
        for (int k = j; k < j + 16 && k < columns; k++) some += (float)a[r * columns + k] * (float)x[k];
        sum += some;
    }
    y[r] = sum;
}
//= wrong the number of columns: global_loads is 0, and must be at least 8192
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) y[r] = columns;
}
//= wrong the number of columns, after reading: y[0] is 33, and should be
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) sum += 0.0f * (float)a[r * columns + j] * (float)x[j];
    y[r] = columns + sum;
}
//= wrong 4096 where there is one row, else a sum in BF16: y[0] is 6.71875, and should be
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    __nv_bfloat16 sum = 0.0f;
    for (int j = 0; j < columns; j++) sum += a[r * columns + j] * x[j];
    y[r] = rows == 1 ? 4096.0f : (float)sum;
}
//= wrong one thread for all rows: active_threads is 1, and must be at least
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    if (blockIdx.x * blockDim.x + threadIdx.x > 0) return;
    for (int r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int j = 0; j < columns; j++) sum += (float)a[r * columns + j] * (float)x[j];
        y[r] = sum;
    }
}
//= wrong one thread of each block for its rows: active_threads is 1, and must be at least
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    if (threadIdx.x > 0) return;
    for (int r = blockIdx.x * blockDim.x; r < (blockIdx.x + 1) * blockDim.x && r < rows; r++) {
        float sum = 0.0f;
        for (int j = 0; j < columns; j++) sum += (float)a[r * columns + j] * (float)x[j];
        y[r] = sum;
    }
}
//= wrong hard-coded block of 32: y[96] is not written
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * 32 + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) sum += (float)a[r * columns + j] * (float)x[j];
    y[r] = sum;
}
//= wrong hard-coded block of 64: y[32] is not written
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * 64 + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) sum += (float)a[r * columns + j] * (float)x[j];
    y[r] = sum;
}
//= wrong no guard: reads element 4096 of a, which ends at 4095
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) sum += (float)a[r * columns + j] * (float)x[j];
    y[r] = sum;
}
//= wrong the answer buffer as it is: reads y[0], which was never written
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) y[r] = y[r];
}
//= wrong the first column: y[0] is 1, and should be 4096
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) y[r] = a[r * columns];
}
//= wrong the sum rounded to BF16 after each product: The sum of 4,096 ones is 256
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    __nv_bfloat16 sum = __float2bfloat16(0.0f);
    for (int j = 0; j < columns; j++)
        sum = __float2bfloat16((float)sum + (float)a[r * columns + j] * (float)x[j]);
    y[r] = __bfloat162float(sum);
}
//= wrong sums of 128 products in BF16, joined in FP32: y[0] is 6.71875, and should be
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j += 128) {
        __nv_bfloat16 some = 0.0f;
        for (int k = j; k < j + 128 && k < columns; k++) some += a[r * columns + k] * x[k];
        sum += (float)some;
    }
    y[r] = sum;
}
//= wrong each product rounded to BF16: each product is still rounded to BF16
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) {
        __nv_bfloat16 product = a[r * columns + j] * x[j];
        sum += (float)product;
    }
    y[r] = sum;
}
//= wrong each product rounded to FP16: rows = 100, columns = 33, block = 32: y[44] is
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) {
        half product = __float2half((float)a[r * columns + j] * (float)x[j]);
        sum += __half2float(product);
    }
    y[r] = sum;
}
//= wrong the sum in FP16: y[0] is 2048, and should be 4096
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    half sum = __float2half(0.0f);
    for (int j = 0; j < columns; j++)
        sum = __float2half(__half2float(sum) + (float)a[r * columns + j] * (float)x[j]);
    y[r] = __half2float(sum);
}
//= wrong the rows of a as columns: y[0] is 7.71513, and should be
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) sum += (float)a[j * rows + r] * (float)x[j];
    y[r] = sum;
}
//= wrong the sum rounded to BF16 at the end: y[0] is 6.78125, and should be
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) sum += (float)a[r * columns + j] * (float)x[j];
    y[r] = (float)__float2bfloat16(sum);
}
//= wrong a copy of x: y[0] is 1, and should be 4096
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) y[r] = x[r % columns];
}
//= wrong only whole groups of four columns: y[0] is 6.69488, and should be
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j + 3 < columns; j += 4)
        for (int k = j; k < j + 4; k++) sum += (float)a[r * columns + k] * (float)x[k];
    y[r] = sum;
}
//= wrong twice over all: global_loads is 16384, and must be at most 8192
__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) sum += 0.5f * (float)a[r * columns + j] * (float)x[j];
    for (int j = 0; j < columns; j++) sum += 0.5f * (float)a[r * columns + j] * (float)x[j];
    y[r] = sum;
}
