// A structure that is a template, written anew for one type: every spelling of the type means that one.
//: grid 2 block 64
//: in = bits 128; out = poison 128; real = poison 128
typedef unsigned int count_t;
template <typename T> struct Range { T low, high; };
template <> struct Range<unsigned int> { unsigned from, to, step; };
template <typename T, int N> struct Row { T cells[N]; };
template <> struct Row<float, 2> { float left, right; };
__global__ void ranges(const unsigned *in, unsigned *out, float *real) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Range<uint> a;
  a.from = 3;
  a.to = in[i];
  a.step = 1 + i % 5;
  Range<count_t> b = a;
  b.step += 2;
  Range<float> c;
  c.low = i * 0.5f;
  c.high = (in[i] >> 8) * 0.25f;
  Row<float, 0x2> d;
  d.left = c.high - c.low;
  d.right = c.high + c.low;
  Row<float, 3> e;
  for (int j = 0; j < 3; j++) e.cells[j] = j % 2 == 0 ? d.left : d.right;
  out[i] = (a.to - a.from) / a.step ^ (b.to - b.from) / b.step;
  real[i] = e.cells[i % 3] + e.cells[1];
}
