// Twin of src/threadblock/tile_scheduler.rs: which tiles of D a block that stays computes, one after the other.
#pragma once
#include "threadblock/swizzle.cuh"

namespace threadblock {

// The number of this block in its cluster.
__device__ __forceinline__ unsigned rank_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// The tile of block `rank` in a rectangle of kClusterM x kClusterN tiles: the one of that number, of so many down and across.
template <class Config>
__device__ __forceinline__ constexpr Tile tile_of_rank(unsigned number, unsigned rank, unsigned rows, unsigned columns) {
  Tile const rectangle = tile_of<typename Config::Order>(number, rows, columns);
  return Tile{rectangle.row * Config::kClusterM + rank % Config::kClusterM, rectangle.column * Config::kClusterN + rank / Config::kClusterM};
}

// The map (rank, rectangle) to the number of a tile, row after row.
template <class Config, int Rows, int Columns>
struct ClusterTiles {
  static constexpr int kRows = Config::kClusterM * Config::kClusterN;
  static constexpr int kColumns = Rows * Columns;
  static __device__ constexpr unsigned at(int rank, int number) {
    Tile const tile = tile_of_rank<Config>(number, rank, Rows, Columns);
    return tile.row * Columns * Config::kClusterN + tile.column;
  }
};

// Clusters take rectangles in the order of the swizzle, each the next one after all clusters'.
template <class Config>
struct TileScheduler {
  static constexpr unsigned kBlocks = Config::kClusterM * Config::kClusterN;

  unsigned const rows;
  unsigned const columns;
  unsigned const rank = kBlocks > 1 ? rank_in_cluster() : 0;
  unsigned next = blockIdx.x / kBlocks;
  unsigned step = gridDim.x / kBlocks;

  // The extents of D in rectangles.
  __device__ __forceinline__ TileScheduler(unsigned rows, unsigned columns) : rows(rows), columns(columns) {}

  // Of the block's tiles only one of `of`, from the first-th on.
  __device__ __forceinline__ void every(unsigned first, unsigned of) {
    next += first * step;
    step *= of;
  }

  // The next tile; false where there is none. It may lie beyond D where D is no whole number of rectangles.
  __device__ __forceinline__ bool take(Tile& tile) {
    if (next >= rows * columns) return false;
    tile = tile_of_rank<Config>(next, rank, rows, columns);
    next += step;
    return true;
  }
};

}  // namespace threadblock
