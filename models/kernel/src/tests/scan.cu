#define N 64
__global__ void scan(const int *in, int *out) {
    __shared__ int x[2][N];
    int t = threadIdx.x, from = 0;
    x[0][t] = in[t];
    __syncthreads();
    for (int d = 1; d < N; d <<= 1) {
        x[1 - from][t] = t >= d ? x[from][t] + x[from][t - d] : x[from][t];
        from = 1 - from;
        __syncthreads();
    }
    out[t] = x[from][t];
}
