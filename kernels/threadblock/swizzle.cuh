// Twin of src/threadblock/swizzle.rs: rasterization order of the tiles of D.
#pragma once

namespace threadblock {

struct Tile {
  unsigned row;
  unsigned column;
};

enum class Ordering { Identity, Grouped, Hilbert, User };

// Returns the place and the line of a block, as row and column, if lines are walked in groups of
// GroupSize lines with `places` places each.
template <int GroupSize>
__device__ __forceinline__ constexpr Tile grouped(unsigned block, unsigned places, unsigned lines) {
  unsigned const group = block / (places * GroupSize);
  unsigned const left = lines - group * GroupSize;
  unsigned const width = left < GroupSize ? left : GroupSize;
  unsigned const within = block - group * places * GroupSize;
  return Tile{within / width, group * GroupSize + within % width};
}

// Returns a step of Hilbert's curve through a square; `side` is a power of two.
__device__ __forceinline__ constexpr Tile on_curve(unsigned step, unsigned side) {
  Tile tile{0, 0};
  for (unsigned s = 1; s < side; s *= 2, step /= 4) {
    unsigned const right = 1 & (step / 2), down = 1 & (step ^ (step / 2));
    if (down == 0) {
      if (right == 1) tile = Tile{s - 1 - tile.row, s - 1 - tile.column};
      tile = Tile{tile.column, tile.row};
    }
    tile.row += s * down;
    tile.column += s * right;
  }
  return tile;
}

// Returns the tile of a block in Hilbert order. Squares have sides of at most kSide tiles. Tiles to
// the right of the squares come next, then the tiles below them.
template <int kSide>
__device__ __forceinline__ constexpr Tile hilbert(unsigned block, unsigned rows, unsigned columns) {
  unsigned side = kSide;
  while (side > 1 && (side > rows || side > columns)) side /= 2;
  unsigned const down = rows / side, across = columns / side, squares = down * across * side * side;
  if (block >= squares) {
    unsigned const rest = block - squares, width = columns - across * side, right = width * down * side;
    if (rest < right) return Tile{rest / width, across * side + rest % width};
    return Tile{down * side + (rest - right) / columns, (rest - right) % columns};
  }
  unsigned const square = block / (side * side);
  Tile const within = on_curve(block % (side * side), side);
  return Tile{square / across * side + within.row, square % across * side + within.column};
}

// Returns the tile of a block.
template <class Order>
__device__ __forceinline__ constexpr Tile tile_of(unsigned block, unsigned rows, unsigned columns) {
  if constexpr (Order::kOrdering == Ordering::Identity) {
    return grouped<Order::kGroupSize>(block, rows, columns);
  } else if constexpr (Order::kOrdering == Ordering::Grouped) {
    Tile const transposed = grouped<Order::kGroupSize>(block, columns, rows);
    return Tile{transposed.column, transposed.row};
  } else if constexpr (Order::kOrdering == Ordering::User) {
    // A tile outside of the grid is moved into it, as on the host.
    Tile const tile = Order::User::of(block, rows, columns);
    return Tile{tile.row < rows ? tile.row : rows - 1, tile.column < columns ? tile.column : columns - 1};
  } else {
    return hilbert<Order::kGroupSize>(block, rows, columns);
  }
}

// Map from (0, block) to the index of a tile.
template <class Order, int Rows, int Columns>
struct TileOrder {
  static constexpr int kRows = 1;
  static constexpr int kColumns = Rows * Columns;
  static __device__ constexpr unsigned at(int, int block) {
    Tile const tile = tile_of<Order>(block, Rows, Columns);
    return tile.row * Columns + tile.column;
  }
};

}  // namespace threadblock
