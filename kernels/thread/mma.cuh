// Twin of src/thread/mma.rs: the outer product of two fragments in registers.
#pragma once
#include "numeric.cuh"

namespace thread {

// accumulators[i][j] += a[i] * b[j]. Rows run to and fro, so that two products in a row share an
// operand.
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

// The same of halves, two neighbours a register: of (a0, a1) and (b0, b1) the products (a0 b0, a1
// b1), and of (a1, a0) the other two, so one permutation serves four products. Every
// row runs in the same direction: a serpentine order was slower (book/src/lessons.md names
// the notebook).
template <int M, int N>
__device__ __forceinline__ void outer_product(f16x2 const (&a)[M / 2], f16x2 const (&b)[N / 2], f16x2 (&accumulators)[M * N / 2]) {
#pragma unroll
  for (int i = 0; i < M; ++i) {
    f16x2 const left = i % 2 == 0 ? a[i / 2] : swapped(a[i / 2]);
#pragma unroll
    for (int j = 0; j < N / 2; ++j) accumulators[i * (N / 2) + j] = mul_add(left, b[j], accumulators[i * (N / 2) + j]);
  }
}

// Which accumulator of a tile of N columns lies at a place, counted in halves, and at which place
// an accumulator lies: rows of a pair change places in odd columns.
template <int N>
__device__ __forceinline__ constexpr int exchanged(int i) {
  return (i / N ^ i % 2) * N + i % N;
}

}  // namespace thread
