// NaN, infinities, zeros of both signs and subnormal numbers, through operations that must keep them apart.
//: grid 1 block 64
//: in = special 64; out = poison 384; told = poison 256
__global__ void special(const float *in, float *out, int *told) {
  int t = threadIdx.x;
  float x = in[t], y = in[(t * 7 + 3) % 64];
  out[6 * t] = x + y;
  out[6 * t + 1] = x - y;
  out[6 * t + 2] = x * y;
  out[6 * t + 3] = -x;
  out[6 * t + 4] = fabsf(x);
  out[6 * t + 5] = copysignf(2.0f, x);
  told[4 * t] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * (x >= y);
  told[4 * t + 1] = isnan(x) ? 1 : 0;
  told[4 * t + 2] = isinf(x) ? 1 : 0;
  told[4 * t + 3] = x ? 1 : 0;
}
