// Constants, functions and names for types that belong to a structure.
//: grid 2 block 32
//: in = index 64; out = poison 64
struct Wave {
  using Real = float;
  typedef int Whole;
  static constexpr int period = 8;
  static const int half = period / 2;
  Real height;
  static __device__ Real at(Whole t) { return (t % period < half ? 1.0f : -1.0f) * (t % half); }
};
template <class T, int N> struct Tile {
  static constexpr int size = N * N;
  T cells[N * N];
  static __device__ T weight(int i) { return T(i % N) / T(N); }
};
using Square = Tile<float, 2>;
__global__ void waves(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Wave wave;
  wave.height = in[i];
  Wave::Real x = wave.height * Wave::at(i) + Wave::period;
  Square tile;
  for (int j = 0; j < Square::size; j++) tile.cells[j] = x * Square::weight(i + j);
  for (int j = 1; j < Square::size; j++) x += tile.cells[j] * tile.cells[j - 1];
  out[i] = x + Tile<float, 4>::size * Tile<float, 4>::weight(i);
}
