// Twin of src/thread/mma.rs: the outer product of two fragments in registers.
#pragma once
#include "numeric.cuh"

namespace thread {

// Performs accumulators[i][j] += a[i] * b[j]. The row direction alternates, so consecutive products
// share an operand.
template <int M, int N, class T>
__device__ __forceinline__ void outer_product(T const (&a)[M], T const (&b)[N], T (&accumulators)[M * N]) {
#pragma unroll
  for (int i = 0; i < M; ++i) {
#pragma unroll
    for (int step = 0; step < N; ++step) {
      int const j = i % 2 == 0 ? step : N - 1 - step;
      accumulators[i * N + j] = mul_add(a[i], b[j], accumulators[i * N + j]);
    }
  }
}

// Performs the outer product of f16 with two neighbors per register. (a0, a1) and (b0, b1) yield a0
// b0 and a1 b1; (a1, a0) yields the other two products, so one permutation serves four products.
// All rows have the same direction: a serpentine order was slower (book/src/lessons.md names the
// notebook).
template <int M, int N>
__device__ __forceinline__ void outer_product(f16x2 const (&a)[M / 2], f16x2 const (&b)[N / 2], f16x2 (&accumulators)[M * N / 2]) {
#pragma unroll
  for (int i = 0; i < M; ++i) {
    f16x2 const left = i % 2 == 0 ? a[i / 2] : swapped(a[i / 2]);
#pragma unroll
    for (int j = 0; j < N / 2; ++j) accumulators[i * (N / 2) + j] = mul_add(left, b[j], accumulators[i * (N / 2) + j]);
  }
}

// Returns the accumulator at a place in a tile of N columns, counted in halves, and, as its own
// inverse, the place of an accumulator. Odd columns swap the rows of a pair.
template <int N>
__device__ __forceinline__ constexpr int exchanged(int i) {
  return (i / N ^ i % 2) * N + i % N;
}

}  // namespace thread
