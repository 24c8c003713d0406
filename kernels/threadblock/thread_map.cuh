// Twin of src/threadblock/thread_map.rs: assignment of an operand tile's vectors to threads.
#pragma once
#include "layout/index_map.cuh"

namespace threadblock {

constexpr int kWarp = 32;

// Map from (thread, access) to the index of a vector: strided index * contiguous vectors +
// contiguous index.
template <class Operand>
struct ThreadMap {
  static constexpr int kThreadsContiguous = Operand::kLanesContiguous * Operand::kWarpsContiguous;
  static constexpr int kThreadsStrided = Operand::kThreads / kThreadsContiguous;
  static constexpr int kStepsContiguous = Operand::kVectorsContiguous / kThreadsContiguous;
  static constexpr int kStepsStrided = (Operand::kVectorsStrided + kThreadsStrided - 1) / kThreadsStrided;
  static constexpr int kAccesses = kStepsContiguous * kStepsStrided;
  // Whether the last access across rows is idle for some threads.
  static constexpr bool kIdle = kStepsStrided * kThreadsStrided != Operand::kVectorsStrided;

  static constexpr int kRows = Operand::kThreads;
  static constexpr int kColumns = kAccesses;

  // Indices of a thread's first vector.
  static __device__ __forceinline__ constexpr int contiguous(int thread) {
    return (thread / kWarp % Operand::kWarpsContiguous) * Operand::kLanesContiguous + thread % kWarp % Operand::kLanesContiguous;
  }
  static __device__ __forceinline__ constexpr int strided(int thread) {
    return (thread / kWarp / Operand::kWarpsContiguous) * (kWarp / Operand::kLanesContiguous) + thread % kWarp / Operand::kLanesContiguous;
  }

  static __device__ constexpr unsigned at(int thread, int access) {
    int const row = strided(thread) + access / kStepsContiguous * kThreadsStrided;
    if (row >= Operand::kVectorsStrided) return index::kLeftOut;
    return row * Operand::kVectorsContiguous + contiguous(thread) + access % kStepsContiguous * kThreadsContiguous;
  }
};

}  // namespace threadblock
