__global__ void k(int *o) {
  o[blockIdx.x] = 1; o[blockIdx.x] = 2;
  int x = blockIdx.x + 5;
  int own[2];
  int z = 4;
  int *p = &z;
  own[1] = x;
  o[blockIdx.x] = own[1] + *p;
}
