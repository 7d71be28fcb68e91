//: grid 4 block 64
//: x = signed 256; relu = poison 256; leaky = poison 256; gelu = poison 256; sigmoid = poison 256
//: near
__global__ void activate(const float *x, float *relu, float *leaky, float *gelu, float *sigmoid) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  relu[i] = v > 0.0f ? v : 0.0f;
  leaky[i] = fmaxf(v, 0.01f * v);
  gelu[i] = 0.5f * v * (1.0f + tanhf(0.797885f * (v + 0.044715f * v * v * v)));
  sigmoid[i] = 1.0f / (1.0f + expf(-v));
}
