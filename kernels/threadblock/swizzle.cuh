// Twin of src/threadblock/swizzle.rs: which block computes which tile of D.
#pragma once

namespace threadblock {

struct Tile {
  unsigned row;
  unsigned column;
};

// The tile of a block; Abreast columns of tiles side by side, or along rows when it is 0.
template <int Abreast>
__device__ __forceinline__ constexpr Tile tile_of(unsigned block, unsigned rows, unsigned columns) {
  if constexpr (Abreast == 0) {
    return Tile{block / columns, block % columns};
  } else {
    unsigned const group = block / (rows * Abreast);
    unsigned const left = columns - group * Abreast;
    unsigned const width = left < Abreast ? left : Abreast;
    unsigned const within = block - group * rows * Abreast;
    return Tile{within / width, group * Abreast + within % width};
  }
}

// The map (0, block) to the number of a tile.
template <int Abreast, int Rows, int Columns>
struct TileOrder {
  static constexpr int kRows = 1;
  static constexpr int kColumns = Rows * Columns;
  static __device__ constexpr unsigned at(int, int block) {
    Tile const tile = tile_of<Abreast>(block, Rows, Columns);
    return tile.row * Columns + tile.column;
  }
};

}  // namespace threadblock
