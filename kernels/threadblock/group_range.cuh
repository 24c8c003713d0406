// Twin of src/threadblock/group_range.rs: range of K of a group, for grouped GEMM along K.
#pragma once
#include "layout/index_map.cuh"

namespace threadblock {

// Range of K of a group: `first .. limit`. Its k-tiles begin at the largest multiple of Step up to
// `first`.
template <unsigned TileK, unsigned Step>
struct GroupRange {
  unsigned first, limit;

  // Enters a group. Offsets that descend or exceed `k` are clamped, so a range may be empty or
  // shorter, but never lies outside of K.
  template <class Offsets>
  __device__ __forceinline__ constexpr void enter(Offsets offsets, unsigned group, unsigned k) {
    first = smaller(offsets[group], k);
    limit = smaller(offsets[group + 1], k);
    if (limit < first) limit = first;
  }

  __device__ __forceinline__ constexpr unsigned begin() const { return first / Step * Step; }
  // Number of k-tiles. An empty group has none.
  __device__ __forceinline__ constexpr unsigned tiles() const { return first == limit ? 0 : (limit - begin() + TileK - 1) / TileK; }
  template <class Params>
  __device__ __forceinline__ unsigned k_count(Params const&) const {
    return tiles();
  }
  // Part of a k-tile that lies in the group, relative to the tile: `inside_from .. inside_to`.
  __device__ __forceinline__ constexpr unsigned inside_from(unsigned tile) const { return tile == 0 ? first - begin() : 0; }
  __device__ __forceinline__ constexpr unsigned inside_to(unsigned tile) const { return smaller(TileK, limit - begin() - tile * TileK); }

 private:
  static __device__ __forceinline__ constexpr unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }
};

// Map from (row, group) to a number of the range of a group, for Count groups. Row 0 is the k at
// which its k-tiles begin, and row 1 is their number. Rows 2 and 3 are the parts of the first and
// of the last k-tile in the group. Group i has i * i thirds of a k-tile, and K ends within the last
// group.
template <class Config, int Count>
struct GroupRanges {
  static constexpr int kRows = 4;
  static constexpr int kColumns = Count;
  struct Offsets {
    __device__ constexpr unsigned operator[](unsigned i) const { return i == 0 ? 0 : i * (i - 1) * (2 * i - 1) / 18 * Config::kTileK + i; }
  };
  static __device__ constexpr unsigned at(int row, int group) {
    GroupRange<Config::kTileK, Config::kGroupStep> range{};
    range.enter(Offsets{}, group, Offsets{}[Count] - 1);
    if (row == 0) return range.begin();
    if (row == 1) return range.tiles();
    if (range.tiles() == 0) return index::kLeftOut;
    unsigned const tile = row == 2 ? 0 : range.tiles() - 1;
    return (range.inside_from(tile) << 16) + range.inside_to(tile);
  }
};

}  // namespace threadblock
