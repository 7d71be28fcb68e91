// Negative bases: WGSL's own pow has no value for them.
//: grid 1 block 64
//: x = signed 64; cube = poison 64; square = poison 64; one = poison 64; root = poison 64
//: near
__global__ void powers(const float *x, float *cube, float *square, float *one, float *root) {
  int i = threadIdx.x;
  cube[i] = powf(x[i], 3.0f);
  square[i] = powf(x[i], 2.0f);
  one[i] = powf(x[i], 0.0f);
  root[i] = powf(x[i], 0.5f);
}
