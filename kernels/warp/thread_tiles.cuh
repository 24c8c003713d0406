// Twin of src/warp/thread_tiles.rs: places of warps in a block, and of lanes in a warp.
#pragma once

namespace warp {

// Returns the place of a lane along M or N. The bits of the lane alternate between M and N, M
// first, while both have bits left.
template <class Config>
struct LaneArrangement {
  static __device__ __forceinline__ constexpr int place(int lane, bool along_m) {
    int m = 0, n = 0, taken_m = 0, taken_n = 0;
    for (int bit = 0; bit < 5; ++bit) {
      int const value = (lane >> bit) & 1;
      bool const left_m = (1 << taken_m) < Config::kLanesM, left_n = (1 << taken_n) < Config::kLanesN;
      if (left_m && (bit % 2 == 0 || !left_n)) {
        m |= value << taken_m++;
      } else {
        n |= value << taken_n++;
      }
    }
    return along_m ? m : n;
  }

  // Returns the lane at a place.
  static __device__ __forceinline__ constexpr int lane(int m, int n) {
    int lane = 0, taken_m = 0, taken_n = 0;
    for (int bit = 0; bit < 5; ++bit) {
      bool const left_m = (1 << taken_m) < Config::kLanesM, left_n = (1 << taken_n) < Config::kLanesN;
      lane |= (left_m && (bit % 2 == 0 || !left_n) ? m >> taken_m++ & 1 : n >> taken_n++ & 1) << bit;
    }
    return lane;
  }
};

// Place of a warp in its block: M runs fastest, then N, then K.
template <class Config>
struct WarpPlace {
  static __device__ __forceinline__ constexpr int m(int warp) { return warp % Config::kWarpsM; }
  static __device__ __forceinline__ constexpr int n(int warp) { return warp / Config::kWarpsM % Config::kWarpsN; }
  static __device__ __forceinline__ constexpr int k(int warp) { return Config::kWarpsK == 1 ? 0 : warp / Config::kWarpsM / Config::kWarpsN; }
};

}  // namespace warp
