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

// Clusters take rectangles of kClusterM x kClusterN tiles in the order of the swizzle, each the next one after all clusters'.
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
    Tile const rectangle = tile_of<typename Config::Order>(next, rows, columns);
    tile = Tile{rectangle.row * Config::kClusterM + rank % Config::kClusterM, rectangle.column * Config::kClusterN + rank / Config::kClusterM};
    next += step;
    return true;
  }
};

}  // namespace threadblock
