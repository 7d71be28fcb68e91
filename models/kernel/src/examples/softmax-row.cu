// One block a row: its largest element, the sum of exponentials, the quotients.
__global__ void softmax(const float *in, float *out, int rows, int columns)
{
    extern __shared__ float part[];
    int tid = threadIdx.x;
    const float *row = in + blockIdx.x * columns;

    float largest = row[0];
    for (int j = tid; j < columns; j += blockDim.x)
        largest = fmaxf(largest, row[j]);
    part[tid] = largest;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0 && tid + s < blockDim.x)
            part[tid] = fmaxf(part[tid], part[tid + s]);
        __syncthreads();
    }
    largest = part[0];
    __syncthreads();

    float sum = 0.0f;
    for (int j = tid; j < columns; j += blockDim.x)
        sum += expf(row[j] - largest);
    part[tid] = sum;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0 && tid + s < blockDim.x)
            part[tid] += part[tid + s];
        __syncthreads();
    }
    for (int j = tid; j < columns; j += blockDim.x)
        out[blockIdx.x * columns + j] = expf(row[j] - largest) / part[0];
}
