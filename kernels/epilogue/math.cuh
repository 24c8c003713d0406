// Twin of src/epilogue/math.rs: mathematical functions of epilogues, with the names and the bits of
// the host's. The approximations of f32 are generated from src/epilogue/math/approximation.rs; they
// use the functions of the first section.
#pragma once

namespace math {

// --- functions that approximations use ---

__device__ __forceinline__ unsigned word(unsigned x) { return x; }
__device__ __forceinline__ unsigned bits(float x) { return __float_as_uint(x); }
__device__ __forceinline__ float from_bits(unsigned x) { return __uint_as_float(x); }
__device__ __forceinline__ float fused(float x, float y, float z) { return __fmaf_rn(x, y, z); }
// Returns 1 / x, correctly rounded, for x from 1 to 2^126. The instruction is within 1 ulp, and one
// step of Newton's method rounds the residual.
__device__ __forceinline__ float inverse(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return __fmaf_rn(y, __fmaf_rn(-x, y, 1.0f), y);
}
__device__ __forceinline__ float select(bool condition, float x, float y) { return condition ? x : y; }

// --- functions of every compute type ---

__device__ __forceinline__ float neg(float x) { return -x; }
__device__ __forceinline__ double neg(double x) { return -x; }
__device__ __forceinline__ int neg(int x) { return int(0u - unsigned(x)); }

__device__ __forceinline__ float abs(float x) { return fabsf(x); }
__device__ __forceinline__ double abs(double x) { return fabs(x); }
__device__ __forceinline__ int abs(int x) { return x < 0 ? neg(x) : x; }

template <class Compute>
__device__ __forceinline__ Compute add(Compute x, Compute y) { return plus(x, y); }

__device__ __forceinline__ float subtract(float x, float y) { return __fsub_rn(x, y); }
__device__ __forceinline__ double subtract(double x, double y) { return __dsub_rn(x, y); }
__device__ __forceinline__ int subtract(int x, int y) { return int(unsigned(x) - unsigned(y)); }

template <class Compute>
__device__ __forceinline__ Compute multiply(Compute x, Compute y) { return times(x, y); }

// minimum and maximum of IEEE 754-2019: NaN if an operand is NaN, and -0 is less than +0. The
// instructions need sm_80.
__device__ __forceinline__ double nan_of(double) { return __longlong_as_double(0x7fffffffffffffffll); }
__device__ __forceinline__ float nan_of(float) { return __uint_as_float(0x7fffffffu); }
__device__ __forceinline__ bool negative(double x) { return __double_as_longlong(x) < 0; }
__device__ __forceinline__ bool negative(float x) { return __float_as_int(x) < 0; }

template <class Float>
__device__ __forceinline__ Float min_of(Float x, Float y) {
  if (x != x || y != y) return nan_of(x);
  return x < y || (x == y && negative(x)) ? x : y;
}

template <class Float>
__device__ __forceinline__ Float max_of(Float x, Float y) {
  if (x != x || y != y) return nan_of(x);
  return x > y || (x == y && !negative(x)) ? x : y;
}

__device__ __forceinline__ float min(float x, float y) {
#if __CUDA_ARCH__ >= 800
  float z;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
#else
  return min_of(x, y);
#endif
}

__device__ __forceinline__ float max(float x, float y) {
#if __CUDA_ARCH__ >= 800
  float z;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
#else
  return max_of(x, y);
#endif
}

__device__ __forceinline__ double min(double x, double y) { return min_of(x, y); }
__device__ __forceinline__ double max(double x, double y) { return max_of(x, y); }

// Comparison and selection are assembly, because NVRTC 13.0 compiled max(max(x, -y), z) on sm_90 to
// a VIMNMX3 without the negation. It still replaces both by VIMNMX if no operand is negated.
__device__ __forceinline__ int min(int x, int y) {
  int z;
  asm("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b32 %0, %1, %2, p; }" : "=r"(z) : "r"(x), "r"(y));
  return z;
}

__device__ __forceinline__ int max(int x, int y) {
  int z;
  asm("{ .reg .pred p; setp.gt.s32 p, %1, %2; selp.b32 %0, %1, %2, p; }" : "=r"(z) : "r"(x), "r"(y));
  return z;
}

template <class Compute>
__device__ __forceinline__ Compute relu(Compute x) { return max(x, Compute(0)); }

template <class Compute>
__device__ __forceinline__ Compute relu_grad(Compute x) { return x > Compute(0) ? Compute(1) : Compute(0); }

// --- functions of f32 and f64 ---

__device__ __forceinline__ float sqrt(float x) { return __fsqrt_rn(x); }
__device__ __forceinline__ double sqrt(double x) { return __dsqrt_rn(x); }
__device__ __forceinline__ float rsqrt(float x) { return __frcp_rn(__fsqrt_rn(x)); }
__device__ __forceinline__ double rsqrt(double x) { return __drcp_rn(__dsqrt_rn(x)); }
__device__ __forceinline__ float divide(float x, float y) { return __fdiv_rn(x, y); }
__device__ __forceinline__ double divide(double x, double y) { return __ddiv_rn(x, y); }

template <class Float>
__device__ __forceinline__ Float hardswish(Float x) {
  return times(x, times(min(max(plus(x, Float(3)), Float(0)), Float(6)), Float(1) / Float(6)));
}

template <class Float>
__device__ __forceinline__ Float leaky_relu(Float x, Float slope) { return x < Float(0) ? times(slope, x) : x; }

}  // namespace math
