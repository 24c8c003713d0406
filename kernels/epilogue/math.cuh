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

}  // namespace math
