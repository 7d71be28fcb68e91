// A block a row.
//: grid 6 block 32
//: in = signed 300; out = poison 300; columns = 50
//: near
__global__ void softmax(const float *in, float *out, int columns) {
  __shared__ float x[32];
  int t = threadIdx.x, base = blockIdx.x * columns;
  float most = -1e30f;
  for (int i = t; i < columns; i += 32) most = fmaxf(most, in[base + i]);
  x[t] = most;
  __syncthreads();
  for (int s = 16; s > 0; s /= 2) { if (t < s) x[t] = fmaxf(x[t], x[t + s]); __syncthreads(); }
  most = x[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = t; i < columns; i += 32) sum += expf(in[base + i] - most);
  x[t] = sum;
  __syncthreads();
  for (int s = 16; s > 0; s /= 2) { if (t < s) x[t] += x[t + s]; __syncthreads(); }
  for (int i = t; i < columns; i += 32) out[base + i] = expf(in[base + i] - most) / x[0];
}
