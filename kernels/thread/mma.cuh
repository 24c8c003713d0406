// Twin of src/thread/mma.rs: the outer product of two fragments in registers.
#pragma once
#include "numeric.cuh"

namespace thread {

// accumulators[i][j] += a[i] * b[j]. Rows run to and fro, so that two products in a row share an operand.
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

// The same of halves, two neighbours a register, along N those of the accumulators.
template <int M, int N>
__device__ __forceinline__ void outer_product(f16x2 const (&a)[M / 2], f16x2 const (&b)[N / 2], f16x2 (&accumulators)[M * N / 2]) {
#pragma unroll
  for (int i = 0; i < M; ++i) {
    f16x2 const both = both_of(a[i / 2], i % 2);
#pragma unroll
    for (int step = 0; step < N / 2; ++step) {
      int const j = i % 2 == 0 ? step : N / 2 - 1 - step;
      accumulators[i * (N / 2) + j] = mul_add(both, b[j], accumulators[i * (N / 2) + j]);
    }
  }
}

}  // namespace thread
