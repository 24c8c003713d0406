// Twin of src/epilogue/math.rs: mathematical functions of epilogues, with the names and the bits of
// the host's.
#pragma once

namespace math {

// Comparisons instead of fmin and fmax, so that NaN and the sign of zero equal the host's.
template <class Compute>
__device__ __forceinline__ Compute max(Compute x, Compute y) {
  return x < y ? y : x;
}

template <class Compute>
__device__ __forceinline__ Compute min(Compute x, Compute y) {
  return x > y ? y : x;
}

template <class Compute>
__device__ __forceinline__ Compute relu(Compute x) {
  return max(x, Compute(0));
}

__device__ __forceinline__ float abs(float x) { return fabsf(x); }
__device__ __forceinline__ double abs(double x) { return fabs(x); }
__device__ __forceinline__ int abs(int x) { return x < 0 ? int(0u - unsigned(x)) : x; }

}  // namespace math
