// A thread a row.
//: grid 2 block 16
//: in = signed 480; out = poison 480; columns = 15
//: near
__global__ void softmax(const float *in, float *out, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  const float *x = in + row * columns;
  float *y = out + row * columns;
  float most = x[0], sum = 0.0f;
  for (int i = 1; i < columns; i++) most = fmaxf(most, x[i]);
  for (int i = 0; i < columns; i++) sum += expf(x[i] - most);
  for (int i = 0; i < columns; i++) y[i] = expf(x[i] - most) / sum;
}
