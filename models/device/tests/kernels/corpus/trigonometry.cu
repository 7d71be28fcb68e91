//: grid 4 block 64
//: x = signed 256; out = poison 1280
//: near
__global__ void turn(const float *x, float *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float a = x[i] * 1.25f;
  out[5 * i] = 2.0f + sinf(a);
  out[5 * i + 1] = 2.0f + cosf(a);
  out[5 * i + 2] = 2.0f + atanf(a);
  out[5 * i + 3] = 4.0f + atan2f(x[i], 0.75f - x[(i + 1) % 256]);
  out[5 * i + 4] = hypotf(a, 1.5f);
}
