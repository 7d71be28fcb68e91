// operator[], for values that change and for those that do not, and an operator() of two indices.
//: grid 2 block 32; cuda
//: in = signed 256; out = poison 192
struct Vector {
  float e[3];
  __device__ float &operator[](int i) { return e[i]; }
  __device__ const float &operator[](int i) const { return e[i]; }
};
struct Matrix {
  float e[9];
  __device__ float &operator()(int row, int column) { return e[row * 3 + column]; }
  __device__ float operator()(int row, int column) const { return e[row * 3 + column]; }
};
__device__ Vector operator*(const Matrix &a, const Vector &x) {
  Vector y;
  for (int i = 0; i < 3; i++) {
    y[i] = 0;
    for (int j = 0; j < 3; j++) y[i] += a(i, j) * x[j];
  }
  return y;
}
__global__ void turned(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Vector x;
  Matrix a;
  for (int j = 0; j < 3; j++) x[j] = in[4 * i + j];
  for (int j = 0; j < 9; j++) a(j / 3, j % 3) = in[(4 * i + j) % 256] * 0.5f;
  x[2] *= 2.0f;
  Vector y = a * x;
  for (int j = 0; j < 3; j++) out[3 * i + j] = y[j];
}
