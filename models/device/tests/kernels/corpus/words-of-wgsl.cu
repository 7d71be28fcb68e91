// Names that WGSL keeps to itself.
//: grid 1 block 32
//: array = index 32; let = poison 32; fn = 2
__device__ int var(int loop, int override) { return loop + override; }
__global__ void workgroup(const int *array, int *let, int fn) {
  int lane = threadIdx.x, vec3 = array[lane], u32 = vec3 * fn;
  let[lane] = var(u32, lane);
}
