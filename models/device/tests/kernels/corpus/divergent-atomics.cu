//: grid 2 block 64
//: out = zeros 4
__global__ void count(int *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  for (int k = 0; k < i % 5; k++) {
    if (i % 2) atomicAdd(&out[0], k);
    else if (i % 3) atomicSub(&out[1], 1);
    else atomicMax(&out[2], i * k);
  }
  if (i % 9 == 0) atomicMin(&out[3], -i);
}
