//: grid 1 block 32
//: out = poison 96
__global__ void compound(int *out) {
  int x = threadIdx.x, y = x++ + 2, z = --x;
  y += x; y -= 3; y *= 2; z |= 8; z ^= y; z &= 255; y /= 3; y %= 7;
  unsigned u = 1;
  u <<= x % 31; u >>= 1;
  out[3 * threadIdx.x] = y;
  out[3 * threadIdx.x + 1] = z++ + (int)u;
  out[3 * threadIdx.x + 2] = z;
}
