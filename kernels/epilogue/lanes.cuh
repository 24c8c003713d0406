// Twin of src/epilogue/lanes.rs: lanes of a warp that share rows or columns of D.
#pragma once

namespace epilogue {

// Lanes of a warpgroup's warp: four neighbors share rows, and eight lanes that are four apart share
// columns. A part of a row's sum has `Columns` columns. A part of a column's sum has 16 of each 64
// rows in `Rows` rows: those of one warp. All lanes of the warp must call the functions below
// together if lanes share lines.
template <int Rows, int Columns>
struct WarpgroupLanes {
  static constexpr int kAcross = 4, kDown = 8;
  // Whether four neighbors have the same rows, and a pair of columns each in every octet.
  static constexpr bool kQuads = true;
  // Returns the part of a row's sum to which a column belongs, and of a column's sum for a row.
  static __device__ __forceinline__ constexpr unsigned part_across(unsigned column) { return column / Columns; }
  static __device__ __forceinline__ constexpr unsigned part_down(unsigned row) { return row / Rows * 4 + row % 64 / 16; }
  // Returns the lane whose place along N, or along M, is `place`, and whose other place is 0.
  static __device__ __forceinline__ constexpr unsigned across(int place) { return place; }
  static __device__ __forceinline__ constexpr unsigned down(int place) { return 4 * place; }
};

// Columns of D of a consumer. With a gate, D has one column per two columns of accumulators.
template <class Config>
constexpr int kConsumerColumns = Config::kWarpN / (Config::kGated ? 2 : 1);

// Lanes of a consumer.
template <class Config>
using ConsumerLanes = WarpgroupLanes<Config::kWarpM, kConsumerColumns<Config>>;

// Map from a line of D to its part of a sum along M (`Down`), or along N.
template <class Lanes, bool Down, int Lines>
struct PartMap {
  static constexpr int kRows = 1, kColumns = Lines;
  static __device__ constexpr unsigned at(int, int line) { return Down ? Lanes::part_down(line) : Lanes::part_across(line); }
};

// Lines that no two lanes are known to share. A kernel with sums has none.
struct UnsharedLines {
  static constexpr int kAcross = 1, kDown = 1;
  static constexpr bool kQuads = false;
  static __device__ __forceinline__ constexpr unsigned part_across(unsigned) { return 0; }
  static __device__ __forceinline__ constexpr unsigned part_down(unsigned) { return 0; }
  static __device__ __forceinline__ constexpr unsigned across(int) { return 0; }
  static __device__ __forceinline__ constexpr unsigned down(int) { return 0; }
};

// Returns whether the lane is the first of those that share its rows, or its columns.
template <class Lanes>
__device__ __forceinline__ bool is_first_across() { return (threadIdx.x & Lanes::across(Lanes::kAcross - 1)) == 0; }
template <class Lanes>
__device__ __forceinline__ bool is_first_down() { return (threadIdx.x & Lanes::down(Lanes::kDown - 1)) == 0; }

// Columns that remain with a lane when lanes join the reductions of `Count` columns. In the steps
// that halve the columns, a lane keeps every second one, as its place along M selects.
template <class Lanes, int Count>
struct JoinedColumns {
  static constexpr int stride() {
    int stride = 1;
    while (stride < Lanes::kDown && Count / stride % 2 == 0) stride *= 2;
    return stride;
  }
  // Distance from a column that remains to the next, and the number of such columns.
  static constexpr int kStride = stride(), kCount = Count / kStride;

  // Returns the first column that remains with a lane.
  static __device__ __forceinline__ int first(unsigned lane) {
    int first = 0;
#pragma unroll
    for (int place = 1; place < kStride; place *= 2)
      if ((lane & Lanes::down(place)) != 0) first += place;
    return first;
  }

  // Returns whether the lane is the first of those with the same columns.
  static __device__ __forceinline__ bool writes(unsigned lane) { return (lane & Lanes::down(Lanes::kDown - kStride)) == 0; }
};

}  // namespace epilogue
