//: grid 2 block 64
//: a = bits 128; out = zeros 8
__global__ void each(const int *a, int *out) {
  int i = blockIdx.x * 64 + threadIdx.x, x = a[i] / 16;
  atomicAdd(&out[0], 1);
  atomicSub(&out[1], 2);
  atomicMin(&out[2], x);
  atomicMax(&out[3], x);
  atomicAnd(&out[4], x);
  atomicOr(&out[5], x);
  atomicXor(&out[6], x);
  if (i == 77) atomicExch(&out[7], x);
}
