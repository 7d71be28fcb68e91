// One head, causal, a block a query.
//: grid 8 block 16
//: q = signed 128; k = signed 128; v = signed 128; out = poison 128
//: near
#define T 8
#define D 16
__global__ void attend(const float *q, const float *k, const float *v, float *out) {
  __shared__ float w[T];
  int at = blockIdx.x, t = threadIdx.x;
  if (t <= at && t < T) {
    float score = 0.0f;
    for (int d = 0; d < D; d++) score += q[at * D + d] * k[t * D + d];
    w[t] = expf(score / sqrtf((float)D));
  }
  __syncthreads();
  float sum = 0.0f, y = 0.0f;
  for (int j = 0; j <= at; j++) { sum += w[j]; y += w[j] * v[j * D + t]; }
  out[at * D + t] = y / sum;
}
