//: grid 4 block 64
//: A = random 250; B = index 250; C = poison 250; n = 250
__global__ void add(const float *A, const float *B, float *C, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) C[i] = A[i] + B[i];
}
