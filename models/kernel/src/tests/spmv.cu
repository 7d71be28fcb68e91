// A program as it stands in a repository: a sparse matrix goes to the kernel by value.
#include <cstdio>
#include <vector>
#define CHECK(call) do { if ((call) != cudaSuccess) exit(1); } while (0)

typedef struct {
    int rows, first;
    const int *offsets;
    const int *columns;
    float *values;
} Matrix;

struct Scaling { float2 by; int shift[2]; };

__device__ float row_sum(const Matrix &m, const float *x, int row) {
    float sum = 0.0f;
    for (int i = m.offsets[row]; i < m.offsets[row + 1]; ++i) sum += m.values[i] * x[m.columns[i]];
    return sum;
}

__global__ void __launch_bounds__(64) spmv(Matrix m, const float *__restrict__ x, float *y, const Scaling s, dim3 grid) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m.rows && grid.x == gridDim.x) {
        y[row] = s.by.x * row_sum(m, x, row) + s.shift[1] + m.first;
    }
}

int main() {
    Matrix m = {3, 0, nullptr, nullptr, nullptr};
    CHECK(cudaMalloc(&m.values, 4 * sizeof(float)));
    spmv<<<1, 64>>>(m, nullptr, nullptr, Scaling(), dim3(1));
    printf("%d\n", m.rows);
    return 0;
}
