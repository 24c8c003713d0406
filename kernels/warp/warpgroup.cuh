// Twin of src/warp/warpgroup.rs: the rows that each thread of a warpgroup holds.
#pragma once

namespace warp {

constexpr int kWarpgroup = 128;

// Assignment of an instruction's rows to a thread's upper and lower row; each warp has sixteen
// rows.
enum class FragmentRows { Ordinary, Paired, Crossed };

template <FragmentRows Rows = FragmentRows::Ordinary>
__device__ __forceinline__ constexpr int warpgroup_row(int thread, int lower) {
  int const first = thread / 32 * 16, lane = thread % 32;
  if constexpr (Rows == FragmentRows::Ordinary) {
    return first + lane / 4 + 8 * lower;
  } else if constexpr (Rows == FragmentRows::Paired) {
    return first + lane / 4 * 2 + lower;
  } else {
    return first + lane / 4 * 2 + (lower ^ lane / 16);
  }
}

}  // namespace warp
