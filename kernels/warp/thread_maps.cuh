// Twin of src/warp/thread_maps.rs: rows, columns, and k of threads that hold their own
// accumulators.
#pragma once
#include "threadblock/thread_map.cuh"
#include "warp/thread_tiles.cuh"

namespace warp {

// Map from (thread, fragment element) to M of A's tile, or N of B's.
template <class Config, class Operand, bool AlongM>
struct FragmentMap {
  static constexpr int kRows = Config::kThreadsPerWarpSlice * Config::kWarpsK;
  static constexpr int kColumns = Operand::kThreadMn;

  // The thread's part and the element's part, whose sum is the map.
  static __device__ __forceinline__ constexpr int of_thread(int thread) {
    int const warp = thread / threadblock::kWarp;
    int const lane = LaneArrangement<Config>::place(thread % threadblock::kWarp, AlongM);
    return (AlongM ? WarpPlace<Config>::m(warp) : WarpPlace<Config>::n(warp)) * Operand::kWarpMn + lane * Operand::kInterleave;
  }
  static __device__ __forceinline__ constexpr int of_element(int i) {
    return i / Operand::kInterleave * (Operand::kLanes * Operand::kInterleave) + i % Operand::kInterleave;
  }
  static __device__ __forceinline__ constexpr int at(int thread, int i) { return of_thread(thread) + of_element(i); }
};

// Map from (thread, k-block) to K of the block's tile. Each warp slice has its own share of K.
template <class Config>
struct DepthMap {
  static constexpr int kRows = Config::kThreads;
  static constexpr int kColumns = Config::kWarpK;
  static __device__ __forceinline__ constexpr int at(int thread, int group) {
    return WarpPlace<Config>::k(thread / threadblock::kWarp) * Config::kWarpK + group;
  }
};

// Map from (thread, k-block) to the first k of the k-block.
template <class Config>
struct StepMap {
  static constexpr int kRows = Config::kThreadsPerWarpSlice * Config::kWarpsK;
  static constexpr int kColumns = Config::kWarpK / Config::kStep;
  static __device__ __forceinline__ constexpr int at(int thread, int group) {
    return WarpPlace<Config>::k(thread / threadblock::kWarp) * Config::kWarpK + group * Config::kStep;
  }
};

}  // namespace warp
