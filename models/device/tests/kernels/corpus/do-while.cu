//: grid 1 block 64
//: out = poison 64
__global__ void digits(int *out) {
  int n = threadIdx.x * threadIdx.x * 31, sum = 0;
  do {
    sum += n % 10;
    n /= 10;
    if (sum > 20) continue;
    sum++;
  } while (n > 0);
  out[threadIdx.x] = sum;
}
