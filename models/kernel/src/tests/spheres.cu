// Rays through an image, in the style of ray tracers: a class of vectors, spheres, and shading given as a functor.
#include "cuda_runtime.h"
#include <iostream>

enum Material { DULL, SHINY = 3 };

class Vec3 {
public:
    float x, y, z;
    __host__ __device__ Vec3() : x(0), y(0), z(0) {}
    __host__ __device__ Vec3(float a, float b, float c) : x(a), y(b), z(c) {}
    __host__ __device__ Vec3 operator+(const Vec3 &o) const { return Vec3(x + o.x, y + o.y, z + o.z); }
    __host__ __device__ Vec3 operator-(const Vec3 &o) const { return Vec3(x - o.x, y - o.y, z - o.z); }
    __host__ __device__ Vec3 operator*(float s) const { return Vec3(x * s, y * s, z * s); }
    __host__ __device__ float dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
    void print() const { std::cout << x << ' ' << y << ' ' << z << std::endl; }
};

__device__ Vec3 operator*(float s, const Vec3 &v) { return v * s; }

struct Sphere {
    Vec3 center;
    float radius;
    int material;
    __device__ float hit(Vec3 from, Vec3 to) const {
        Vec3 apart = center - from;
        float along = apart.dot(to);
        float off = apart.dot(apart) - along * along;
        return off < radius * radius ? along : -1.0f;
    }
};

struct Shade {
    float light;
    __device__ float operator()(float depth, int material) const { return light * material - depth; }
};

template <typename F>
__device__ float traced(const Sphere &sphere, Vec3 from, F shade) {
    float depth = sphere.hit(from, Vec3(0, 0, 1));
    return depth < 0 ? 0.0f : shade(depth, sphere.material);
}

__global__ void render(float *image, int width, int height, Sphere sphere, Shade shade) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    Vec3 from = 0.5f * Vec3(x, y, 0);
    sphere.material += DULL;
    image[y * width + x] = traced(sphere, from, shade);
}

int main() {
    Vec3(1, 2, 3).print();
    return 0;
}
