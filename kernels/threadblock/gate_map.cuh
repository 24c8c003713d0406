// Twin of src/threadblock/gate_map.rs: columns of B in a tile whose epilogue has a gate.
#pragma once

namespace threadblock {

// Map from a column of B's tile to the column of D's tile, plus the columns of D's tile for the
// second matrix of B. Of each `Warp` columns, the first half belongs to the gate.
template <int Warp, int Tile>
struct GateMap {
  static constexpr int kRows = 1, kColumns = Tile;
  // Columns of D of a warp or of a consumer, and of the tile.
  static constexpr int kHalf = Warp / 2, kColumnsOfD = Tile / 2;

  // Returns the matrix of a column of B: 0 for the gate.
  static __device__ __forceinline__ constexpr int matrix(int column) { return column / kHalf % 2; }
  static __device__ __forceinline__ constexpr int column_of_d(int column) { return column / Warp * kHalf + column % kHalf; }
  static __device__ constexpr unsigned at(int, int column) { return matrix(column) * kColumnsOfD + column_of_d(column); }
};

}  // namespace threadblock
