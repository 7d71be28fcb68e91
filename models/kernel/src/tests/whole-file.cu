#include <cuda_runtime.h>
#include "helpers.h"
#define CHECK(call) do { if ((call) != cudaSuccess) { fprintf(stderr, "failed: %s\n", #call); } } while (0)
namespace kernels {
typedef unsigned int uint;
constexpr int THREE = 3;
static __host__ __device__ __forceinline__ float times(float x, int by = THREE) { return x * by; }
extern "C" __global__ void __launch_bounds__((2 * 16) * 1, 1) scale(float *__restrict__ a, uint n) {
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = times(a[i]);
}
template <typename T, int BY = 1>
__global__ void offset(T *a, int n) {
    static_assert(BY > 0, "BY");
    if (threadIdx.x < n) a[threadIdx.x] += static_cast<T>(BY);
}
}  // namespace kernels
[[nodiscard]] static std::vector<float> filled(std::size_t n) { return std::vector<float>(n, 1.0f); }
struct Timer { Timer() : start(std::chrono::now()) {} std::chrono::time start; };
int main(int argc, char **argv) {
    auto launch = [&](auto f) { f(); };
    launch([] { printf("it's %d\n", 'a'); });
    kernels::offset<float, 8><<<1, 32>>>(filled(3).data(), 3);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
