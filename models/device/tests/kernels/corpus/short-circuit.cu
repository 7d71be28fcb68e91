// The right side runs only where the left one leaves it open.
//: grid 1 block 64
//: a = random 32; out = poison 128
__global__ void guard(const int *a, int *out) {
  int t = threadIdx.x, ran = 0;
  int in = t < 32 && (ran = 1, a[t] > 50);
  int other = t >= 32 || a[t] % 2 == 0;
  out[2 * t] = in + 2 * other;
  out[2 * t + 1] = ran + (t < 32 ? a[t] : -1);
}
