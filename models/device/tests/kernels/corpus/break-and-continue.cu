//: grid 1 block 64
//: a = random 64; out = poison 64
__global__ void search(const int *a, int *out) {
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 64; i++) {
    if ((i + t) % 3 == 0) continue;
    if (sum > 500 + t) break;
    sum += a[i];
    if (a[i] == t) { sum += 1000; break; }
  }
  out[t] = sum;
}
