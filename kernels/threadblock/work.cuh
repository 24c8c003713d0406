// Twin of src/threadblock/work.rs: which block computes what.
#pragma once
#include "threadblock/swizzle.cuh"

namespace threadblock {

// How units are divided among the clusters of a grid.
enum class WorkKind { DataParallel, Persistent };

// Which product of a batch. Of a launch of one it is the first: a member that is always 0 changes registers.
template <bool Batched>
struct Product {
  unsigned product;
};
template <>
struct Product<false> {
  static constexpr unsigned product = 0;
};

// Which k-tiles: all, or, under split-K, those of a part. Of all, a range that is kept would take a register.
template <bool SplitK>
struct KRange {
  // The part, and the number of its tile among those of all Ds.
  unsigned part, number;

  // Of parts of so many k-tiles, the first `longer` of which have one more.
  static __device__ __forceinline__ constexpr unsigned begin(unsigned part, unsigned tiles, unsigned longer) {
    return part * tiles + (part < longer ? part : longer);
  }
  static __device__ __forceinline__ constexpr unsigned count(unsigned part, unsigned tiles, unsigned longer) { return tiles + (part < longer); }

  template <class Params>
  __device__ __forceinline__ unsigned k_begin(Params const& params) const {
    return begin(part, params.part_tiles, params.longer_parts);
  }
  template <class Params>
  __device__ __forceinline__ unsigned k_count(Params const& params) const {
    return count(part, params.part_tiles, params.longer_parts);
  }
};
template <>
struct KRange<false> {
  template <class Params>
  __device__ __forceinline__ unsigned k_begin(Params const&) const {
    return 0;
  }
  template <class Params>
  __device__ __forceinline__ unsigned k_count(Params const& params) const {
    return params.tiles_k;
  }
};

// The map (0, part) to the first k-tile of a part, and (1, part) to how many it has.
template <int Tiles, int Parts>
struct PartsOfK {
  static constexpr int kRows = 2;
  static constexpr int kColumns = Parts;
  static __device__ constexpr unsigned at(int row, int part) {
    return row == 0 ? KRange<true>::begin(part, Tiles / Parts, Tiles % Parts) : KRange<true>::count(part, Tiles / Parts, Tiles % Parts);
  }
};

// How far the adding of a tile's parts has come: at first it is of the parts, then of the sums of every kPartsAtOnce neighbours, and so on.
template <class Config>
struct PartsLevel {
  static constexpr unsigned kAtOnce = Config::kPartsAtOnce;

  // The first ticket of the level.
  unsigned* tickets;
  // What was brought, of so many, and elements from a slot to the next.
  unsigned part, parts, apart;

  __device__ __forceinline__ unsigned first() const { return part / kAtOnce * kAtOnce; }
  __device__ __forceinline__ unsigned members() const { return min(parts - first(), kAtOnce); }
  __device__ __forceinline__ unsigned* ticket() const { return tickets + part / kAtOnce; }
  // Goes on with the sum of the group; whether it is the sum of all.
  __device__ __forceinline__ bool ascend() {
    part /= kAtOnce;
    parts = (parts + kAtOnce - 1) / kAtOnce;
    tickets += parts;
    apart *= kAtOnce;
    return parts == 1;
  }
};

// What a block computes at a time: products of some k-tiles, for one tile of a D.
template <class Config>
struct Unit : Product<Config::kBatched>, KRange<Config::kSplitK> {
  Tile tile;
};

// The matrix of a product at an address, of matrices that lie `stride` elements apart.
template <class Config, class Element>
__device__ __forceinline__ Element* matrix_of(unsigned product, unsigned long long address, long long stride) {
  Element* const first = reinterpret_cast<Element*>(address);
  if constexpr (!Config::kBatched) return first;
  return first + product * stride;
}

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

// The unit of block `rank` in a rectangle: the one of that number, of so many down and across each D, one D after another.
template <class Config>
__device__ __forceinline__ constexpr Unit<Config> unit_of_rank(unsigned number, unsigned rank, unsigned rows, unsigned columns, KRange<Config::kSplitK> range = {}) {
  if constexpr (Config::kBatched) {
    unsigned const product = number / (rows * columns);
    return {{product}, range, tile_of_rank<Config>(number - product * (rows * columns), rank, rows, columns)};
  } else {
    return {{}, range, tile_of_rank<Config>(number, rank, rows, columns)};
  }
}

// The map (rank, rectangle) to the number of a tile, row after row, product after product.
template <class Config, int Rows, int Columns, int Products>
struct ClusterTiles {
  static constexpr int kRows = Config::kClusterM * Config::kClusterN;
  static constexpr int kColumns = Products * Rows * Columns;
  static __device__ constexpr unsigned at(int rank, int number) {
    Unit<Config> const unit = unit_of_rank<Config>(number, rank, Rows, Columns);
    return (unit.product * Rows * Config::kClusterM + unit.tile.row) * Columns * Config::kClusterN + unit.tile.column;
  }
};

// Into how many parts K is cut.
template <bool SplitK>
struct Parts {
  unsigned const parts;
  template <class Params>
  __device__ __forceinline__ explicit Parts(Params const& params) : parts(params.split_k) {}
};
template <>
struct Parts<false> {
  static constexpr unsigned parts = 1;
  template <class Params>
  __device__ __forceinline__ explicit Parts(Params const&) {}
};

// The units of this block, one after the other. Clusters take rectangles in the order of the swizzle, and under split-K those of all first parts before those of
// all second ones: one each, or each the next one after all clusters'.
template <class Config>
struct Work : Parts<Config::kSplitK> {
  static constexpr unsigned kBlocks = Config::kClusterM * Config::kClusterN;

  // The extents of a D in rectangles, and Ds.
  unsigned const rows;
  unsigned const columns;
  unsigned const batch;
  unsigned const rank = kBlocks > 1 ? rank_in_cluster() : 0;
  unsigned next = blockIdx.x / kBlocks;
  unsigned step = gridDim.x / kBlocks;

  template <class Params>
  __device__ __forceinline__ explicit Work(Params const& params)
      : Parts<Config::kSplitK>(params), rows(params.tiles_m), columns(params.tiles_n), batch(Config::kBatched ? params.batch : 1) {}

  // Of the block's units only one of `of`, from the first-th on.
  __device__ __forceinline__ void every(unsigned first, unsigned of) {
    next += first * step;
    step *= of;
  }

  // The first unit, which every block of a grid has.
  __device__ __forceinline__ Unit<Config> first() {
    Unit<Config> const unit = unit_of(next);
    next += step;
    return unit;
  }

  // The next unit; false where there is none, as behind the first of a data-parallel grid. Its tile may lie beyond D where D is no whole
  // number of rectangles.
  __device__ __forceinline__ bool take(Unit<Config>& unit) {
    if constexpr (Config::kWork == WorkKind::DataParallel) return false;
    if (next >= rows * columns * batch * this->parts) return false;
    unit = unit_of(next);
    next += step;
    return true;
  }

  // The part of the unit that is so many units of the block from the one that was taken last, where the block takes one of `of`.
  __device__ __forceinline__ unsigned part_beside(int units, int of) const {
    return (next - step + units * int(step / of)) / (rows * columns * batch);
  }

 private:
  __device__ __forceinline__ Unit<Config> unit_of(unsigned number) const {
    if constexpr (Config::kSplitK) {
      unsigned const tiles = rows * columns * batch, part = number / tiles, tile = number - part * tiles;
      return unit_of_rank<Config>(tile, rank, rows, columns, {part, tile * kBlocks + rank});
    } else {
      return unit_of_rank<Config>(number, rank, rows, columns);
    }
  }
};

}  // namespace threadblock
