struct A { uchar2 c; float4 v; };
struct B { float3 v; char c; };
struct C { char c; float2 v; char3 d; };
struct D { char c; float3 v; short2 s; };
struct E { char c; A a[2]; };
struct F { char c; __align__(8) float x, y; };
struct __align__(16) G { uchar3 c; };
struct H { char c; alignas(float4) int n; };
typedef struct { int n; uchar4 u; } __align__(16) I;
struct J { longlong2 n; uchar2 c; double d; short3 s; };
struct K { char c; J j; uchar3 e[3]; };
struct L { uchar3 c[2]; short h; char z; };
struct M { double3 d; char4 c; int3 i; };

#define LAYOUT(PUT) \
    PUT(A, v) PUT(B, c) PUT(C, v) PUT(C, d) PUT(D, v) PUT(D, s) PUT(E, a[0]) PUT(F, x) PUT(F, y) PUT(G, c) PUT(H, n) \
    PUT(I, u) PUT(J, c) PUT(J, d) PUT(J, s) PUT(K, j) PUT(K, e[0]) PUT(L, h) PUT(L, z) PUT(M, c) PUT(M, i)
