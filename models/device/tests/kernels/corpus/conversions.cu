//: grid 1 block 64
//: in = signed 64; out = poison 256; f = poison 128
__global__ void convert(const float *in, int *out, float *f) {
  int t = threadIdx.x;
  float x = in[t] * 100.0f;
  out[4 * t] = x;
  out[4 * t + 1] = (int)(x + 0.5f);
  out[4 * t + 2] = (unsigned)fabsf(x);
  out[4 * t + 3] = (bool)(int)x;
  f[2 * t] = (int)x;
  f[2 * t + 1] = 16777217 + t;
}
