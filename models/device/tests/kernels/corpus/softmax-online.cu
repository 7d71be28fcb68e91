// Largest and sum in one pass.
//: grid 1 block 32
//: in = signed 640; out = poison 640; columns = 20
//: near
__global__ void softmax(const float *in, float *out, int columns) {
  int base = threadIdx.x * columns;
  float most = in[base], sum = 1.0f;
  for (int i = 1; i < columns; i++) {
    float x = in[base + i];
    if (x > most) { sum = sum * expf(most - x) + 1.0f; most = x; }
    else sum += expf(x - most);
  }
  for (int i = 0; i < columns; i++) out[base + i] = expf(in[base + i] - most) / sum;
}
