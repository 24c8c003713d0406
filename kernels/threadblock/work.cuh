// Twin of src/threadblock/work.rs: distribution of work units over blocks.
#pragma once
#include "layout/index_map.cuh"
#include "threadblock/gate_map.cuh"
#include "threadblock/group_range.cuh"
#include "threadblock/split_k.cuh"
#include "threadblock/records.cuh"
#include "threadblock/stream_k.cuh"
#include "threadblock/swizzle.cuh"

namespace threadblock {

// Assignment of work units to the clusters of a grid.
enum class WorkKind { DataParallel, Persistent, SplitKCluster, StreamK };

// Batch index. Without batching it is a compile-time 0, because a run-time 0 changes register
// allocation.
template <bool Batched>
struct Product {
  unsigned product;
};
template <>
struct Product<false> {
  static constexpr unsigned product = 0;
};

// Ragged axis of a grouped GEMM: M of A and D, N of B and D, or K of A and B. Each group has its
// own matrix on the other side; along K, its own D.
enum class Ragged { None, M, N, K };

// Returns whether groups are lines of one D.
__device__ __forceinline__ constexpr bool divides_d(Ragged axis) { return axis == Ragged::M || axis == Ragged::N; }

// Lines of a group, which are rows or columns of D: `first .. limit`. Its tiles begin at the
// largest multiple of `Step` up to `first`. Without groups, the struct covers all lines and stores
// nothing.
template <Ragged Axis, unsigned Step>
struct Lines {
  unsigned first, limit;

  __device__ __forceinline__ constexpr unsigned begin() const { return first / Step * Step; }
  __device__ __forceinline__ unsigned first_row() const { return Axis == Ragged::M ? begin() : 0; }
  __device__ __forceinline__ unsigned first_column() const { return Axis == Ragged::N ? begin() : 0; }
  // First rows and columns of the group.
  __device__ __forceinline__ unsigned least_row() const { return Axis == Ragged::M ? first : 0; }
  __device__ __forceinline__ unsigned least_column() const { return Axis == Ragged::N ? first : 0; }
  // Ends of rows and of columns.
  template <class Params>
  __device__ __forceinline__ unsigned rows(Params const& params) const { return Axis == Ragged::M ? limit : unsigned(params.m); }
  template <class Params>
  __device__ __forceinline__ unsigned columns(Params const& params) const { return Axis == Ragged::N ? limit : unsigned(params.n); }
  // Return whether a tile's row or column is not before the group.
  __device__ __forceinline__ bool have_row(unsigned row) const { return Step == 1 || Axis != Ragged::M || row >= first; }
  __device__ __forceinline__ bool have_column(unsigned column) const { return Step == 1 || Axis != Ragged::N || column >= first; }
  // Returns whether the group contains all of a tile of `rows` x `columns` from (row, column) on.
  __device__ __forceinline__ bool hold(unsigned row, unsigned column, unsigned rows, unsigned columns) const {
    return have_row(row) && have_column(column) && (Axis == Ragged::M ? row + rows : column + columns) <= limit;
  }
};
template <unsigned Step>
struct Lines<Ragged::None, Step> {
  static __device__ __forceinline__ constexpr unsigned first_row() { return 0; }
  static __device__ __forceinline__ constexpr unsigned first_column() { return 0; }
  static __device__ __forceinline__ constexpr unsigned least_row() { return 0; }
  static __device__ __forceinline__ constexpr unsigned least_column() { return 0; }
  template <class Params>
  static __device__ __forceinline__ unsigned rows(Params const& params) { return unsigned(params.m); }
  template <class Params>
  static __device__ __forceinline__ unsigned columns(Params const& params) { return unsigned(params.n); }
  static __device__ __forceinline__ constexpr bool have_row(unsigned) { return true; }
  static __device__ __forceinline__ constexpr bool have_column(unsigned) { return true; }
  static __device__ __forceinline__ constexpr bool hold(unsigned, unsigned, unsigned, unsigned) { return true; }
};
template <unsigned Step>
struct Lines<Ragged::K, Step> : Lines<Ragged::None, Step> {};

// Range of k-tiles that a block computes of a tile.
template <class Config>
using RangeOf = typename index::Either<
    Config::kWork == WorkKind::StreamK, StreamedRange<Config::kClusterM * Config::kClusterN>,
    typename index::Either<Config::kRagged == Ragged::K, GroupRange<Config::kTileK, Config::kGroupStep>, KRange<Config::kSplitK>>::Type>::Type;

// Work unit of a block: some k-tiles of one tile of a D.
template <class Config>
struct Unit : Product<Config::kBatched>, RangeOf<Config>, Lines<Config::kRagged, Config::kGroupStep> {
  Tile tile;

  // First row and column of the tile in D.
  __device__ __forceinline__ int row() const { return this->first_row() + tile.row * Config::kTileM; }
  __device__ __forceinline__ int column() const { return this->first_column() + tile.column * Config::kColumnsOfD; }
};

// Returns whether a second kernel adds the split-K slices (parallel split-K, which has no tickets).
// Stream-K never uses it.
template <class Config, class Params>
__device__ __forceinline__ bool adds_apart(Params const& params) {
  if constexpr (Config::kWork == WorkKind::StreamK) return false;
  else return params.tile_tickets == 0;
}

// Returns a GEMM's matrix, for matrices that are `stride` elements apart.
template <class Config, class Element>
__device__ __forceinline__ Element* matrix_of(unsigned product, unsigned long long address, long long stride) {
  Element* const first = reinterpret_cast<Element*>(address);
  if constexpr (!Config::kBatched) return first;
  return first + product * stride;
}

// Returns a GEMM's C or D; groups that are lines of D share one.
template <class Config, class Element>
__device__ __forceinline__ Element* output_of(unsigned product, unsigned long long address, long long stride) {
  if constexpr (divides_d(Config::kRagged)) return reinterpret_cast<Element*>(address);
  return matrix_of<Config, Element>(product, address, stride);
}

// Returns matrix `Number` (A, B, C, or D) of a GEMM. In a pointer array, its address is in the
// GEMM's record.
template <class Config, int Number, class Element, class Params>
__device__ __forceinline__ Element* matrix_of_product(Params const& params, unsigned product, unsigned long long address, long long stride) {
  if constexpr (Config::kArray) return reinterpret_cast<Element*>(read_piece<unsigned long long, Config::kPositions>(params.records, product, Number));
  else if constexpr (Number < 2) return matrix_of<Config, Element>(product, address, stride);
  else return output_of<Config, Element>(product, address, stride);
}

// Leading dimensions of A and B, and of C and D. Forgotten ones are opaque to the compiler, which
// would otherwise keep their multiples in registers from unit to unit.
struct PitchesRead {
  long long lda, ldb;
};
template <bool ForgottenA, bool ForgottenB, class Params>
__device__ __forceinline__ decltype(auto) pitches_read(Params const& params) {
  if constexpr (ForgottenA || ForgottenB) {
    PitchesRead pitches{params.lda, params.ldb};
    if constexpr (ForgottenA) index::forget(pitches.lda);
    if constexpr (ForgottenB) index::forget(pitches.ldb);
    return pitches;
  } else {
    return (params);
  }
}
struct PitchesStored {
  long long ldc, ldd;
};
// References to the parameters leave the registers of a capped kernel to the accumulators.
struct PitchesReferenced {
  long long const &ldc, &ldd;
};
template <bool Forgotten, bool Capped, class Params>
__device__ __forceinline__ auto pitches_stored(Params const& params) {
  if constexpr (Capped && !Forgotten) {
    return PitchesReferenced{params.operands[0].row_stride, params.ldd};
  } else {
    PitchesStored pitches{params.operands[0].row_stride, params.ldd};
    if constexpr (Forgotten) index::forget(pitches.ldc), index::forget(pitches.ldd);
    return pitches;
  }
}

// Returns the rank of this block in its cluster.
__device__ __forceinline__ unsigned rank_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Returns the tile of block `rank` in rectangle `number` of kClusterM x kClusterN tiles. D has
// `rows` x `columns` rectangles.
template <class Config>
__device__ __forceinline__ constexpr Tile tile_of_rank(unsigned number, unsigned rank, unsigned rows, unsigned columns) {
  Tile const rectangle = tile_of<typename Config::Order>(number, rows, columns);
  return Tile{rectangle.row * Config::kClusterM + rank % Config::kClusterM, rectangle.column * Config::kClusterN + rank / Config::kClusterM};
}

// Returns the unit of block `rank` in rectangle `number`. Each D has `rows` x `columns` rectangles,
// and the rectangles of one D come before those of the next.
template <class Config>
__device__ __forceinline__ constexpr Unit<Config> unit_of_rank(unsigned number, unsigned rank, unsigned rows, unsigned columns, RangeOf<Config> range = {}) {
  if constexpr (Config::kBatched) {
    unsigned const product = number / (rows * columns);
    return {{product}, range, {}, tile_of_rank<Config>(number - product * (rows * columns), rank, rows, columns)};
  } else {
    return {{}, range, {}, tile_of_rank<Config>(number, rank, rows, columns)};
  }
}

// Returns the unit of block `rank` of a cluster whose blocks compute split-K slices: slice `rank`
// of tile `number`.
template <class Config>
__device__ __forceinline__ constexpr Unit<Config> slice_of_rank(unsigned number, unsigned rank, unsigned rows, unsigned columns) {
  return unit_of_rank<Config>(number, 0, rows, columns, {rank, number});
}

// Map from (rank, rectangle) to the index of a tile, row by row and GEMM by GEMM. If the blocks of
// a cluster compute slices of one tile, the index counts slices.
template <class Config, int Rows, int Columns, int Products>
struct ClusterTiles {
  static constexpr int kRows = Config::kClusterM * Config::kClusterN * Config::kClusterK;
  static constexpr int kColumns = Products * Rows * Columns;
  static __device__ constexpr unsigned tile(Unit<Config> const& unit) {
    return (unit.product * Rows * Config::kClusterM + unit.tile.row) * Columns * Config::kClusterN + unit.tile.column;
  }
  static __device__ constexpr unsigned at(int rank, int number) {
    if constexpr (Config::kWork == WorkKind::SplitKCluster) {
      Unit<Config> const unit = slice_of_rank<Config>(number, rank, Rows, Columns);
      return tile(unit) * Config::kClusterK + unit.slice;
    } else {
      return tile(unit_of_rank<Config>(number, rank, Rows, Columns));
    }
  }
};

// Walk over the groups: the number of groups entered, the lines of the last of them, and the index
// of the first rectangle behind it.
template <class Config>
struct Groups {
  static_assert(!Config::kGated || Config::kRagged != Ragged::N, "groups of columns would divide the matrices of a gate");
  static constexpr bool kDown = Config::kRagged == Ragged::M;
  // Lines per rectangle.
  static constexpr unsigned kLines = kDown ? Config::kTileM * Config::kClusterM : Config::kTileN * Config::kClusterN;

  unsigned entered = 0, behind = 0;
  Lines<Config::kRagged, Config::kGroupStep> lines{0, 0};

  // Returns the rectangles of the current group. An empty group has none, even if its tiles would
  // begin before its first line.
  __device__ __forceinline__ constexpr unsigned rectangles() const {
    if (Config::kGroupStep > 1 && lines.first == lines.limit) return 0;
    return (lines.limit - lines.begin() + kLines - 1) / kLines;
  }

  // Advances to the group of rectangle `number`; returns false if there is none. Offsets that
  // descend or exceed the extent are clamped, so groups may be empty or shorter, but never lie
  // outside.
  template <class Offsets>
  __device__ __forceinline__ constexpr bool reach(unsigned number, Offsets offsets, unsigned groups, unsigned extent, unsigned across) {
    while (number >= behind) {
      if (entered == groups) return false;
      lines.first = entered == 0 ? smaller(offsets[0], extent) : lines.limit;
      unsigned const limit = smaller(offsets[++entered], extent);
      lines.limit = limit < lines.first ? lines.first : limit;
      behind += rectangles() * across;
    }
    return true;
  }

  // Returns the unit of block `rank` in a rectangle of the current group.
  __device__ __forceinline__ constexpr Unit<Config> unit(unsigned number, unsigned rank, unsigned across) const {
    unsigned const along = rectangles();
    Tile const tile = tile_of_rank<Config>(number + along * across - behind, rank, kDown ? along : across, kDown ? across : along);
    return {{entered - 1}, {}, lines, tile};
  }

 private:
  static __device__ __forceinline__ constexpr unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }
};

// Map from (rank, rectangle) to a number that encodes a unit and its group, for Count groups. Group
// i has the lines of i half rectangles, and one more.
template <class Config, int Count, int Across>
struct GroupTiles {
  static constexpr int kRows = Config::kClusterM * Config::kClusterN;
  struct Offsets {
    __device__ constexpr unsigned operator[](unsigned i) const { return i == 0 ? 0 : i * (i - 1) / 2 * Groups<Config>::kLines / 2 + i; }
  };
  // Maximum number of rectangles of a grid.
  static constexpr int kColumns = ((Offsets{}[Count] - Count + Count * (Config::kGroupStep - 1)) / Groups<Config>::kLines + Count) * Across;
  static __device__ constexpr unsigned at(int rank, int number) {
    Groups<Config> groups;
    if (!groups.reach(number, Offsets{}, Count, Offsets{}[Count], Across)) return index::kLeftOut;
    Unit<Config> const unit = groups.unit(number, rank, Across);
    return (unit.first << 16) + unit.limit + (unit.product << 12) + (unit.tile.row << 6) + unit.tile.column;
  }
};

// Empty state without groups.
struct NoGroups {};

// Sequence of this block's work units. Clusters compute rectangles in the order of the swizzle;
// under split-K, the first slices of all rectangles come before all second slices. A cluster
// computes one rectangle, or every clusters-th.
template <class Config>
struct Work : Slices<Config::kSplitK> {
  // Whether the blocks of a cluster compute the slices of one tile.
  static constexpr bool kOfCluster = Config::kWork == WorkKind::SplitKCluster;
  static constexpr unsigned kBlocks = kOfCluster ? Config::kClusterK : Config::kClusterM * Config::kClusterN;
  static constexpr bool kGrouped = divides_d(Config::kRagged);
  static constexpr bool kGroupsK = Config::kRagged == Ragged::K;
  static constexpr bool kStreams = Config::kWork == WorkKind::StreamK;
  static_assert(!kStreams || (Config::kSplitK && !kGrouped), "streams have slices of K");
  static_assert(!(kGrouped || kGroupsK) || (Config::kBatched && !Config::kSplitK), "groups are a batch, whose K is whole");

  // Rectangles per D along M and N, and number of outputs.
  unsigned const rows;
  unsigned const columns;
  unsigned const batch;
  unsigned const rank = kBlocks > 1 ? rank_in_cluster() : 0;
  unsigned next = blockIdx.x / kBlocks;
  unsigned step = gridDim.x / kBlocks;

  template <class Params>
  __device__ __forceinline__ explicit Work(Params const& params)
      : Slices<Config::kSplitK>(params), rows(params.tiles_m), columns(params.tiles_n), batch(Config::kBatched ? params.batch : 1) {
    // Stream-K counts the units of a cluster.
    if constexpr (kStreams) next = 0, step = 1;
  }

  // Restricts the walk to every `of`-th unit of the block, starting at unit `first`.
  __device__ __forceinline__ void every(unsigned first, unsigned of) {
    next += first * step;
    step *= of;
  }

  // Takes the first unit, which every block has. For groups, whose number of tiles the host need
  // not know, and for stream-K, returns false if there is none.
  template <class Params>
  __device__ __forceinline__ bool first(Params const& params, Unit<Config>& unit) {
    if constexpr (kGrouped) return take_of_groups(params, unit);
    else if constexpr (kStreams) return take_of_stream(params, unit);
    unit = unit_of(next);
    if constexpr (kGroupsK) enter_group(params, unit);
    next += step;
    return true;
  }

  // Takes the next unit; returns false if there is none, as after the first unit of a data-parallel
  // grid. Its tile may lie beyond D if rectangles do not divide D evenly.
  template <class Params>
  __device__ __forceinline__ bool take(Params const& params, Unit<Config>& unit) {
    if constexpr (Config::kWork == WorkKind::DataParallel) {
      return false;
    } else if constexpr (kGrouped) {
      return take_of_groups(params, unit);
    } else if constexpr (kStreams) {
      return take_of_stream(params, unit);
    } else if constexpr (kOfCluster) {
      if (!has_next()) return false;
      unit = unit_of(next);
      next += step;
      return true;
    } else {
      if (next >= rows * columns * batch * this->slices) return false;
      unit = unit_of(next);
      if constexpr (kGroupsK) enter_group(params, unit);
      next += step;
      return true;
    }
  }

  // Recomputes the last unit taken, so that its facts occupy no registers in between. Supports
  // stream-K, and blocks with a single unit.
  template <class Params>
  __device__ __forceinline__ void recall(Params const& params, Unit<Config>& unit) {
    if constexpr (kStreams) {
      // The unit exists, because it was taken before.
      if (!unit_of_stream(params, index::block_again() / kBlocks, next - step, unit)) __builtin_unreachable();
    } else {
      static_assert(Config::kWork == WorkKind::DataParallel && !kGrouped, "a block that has one unit");
      unit = unit_of(index::block_again() / kBlocks);
    }
  }

  // Returns whether a cluster whose blocks compute slices has another unit.
  __device__ __forceinline__ bool has_next() const { return next < rows * columns * batch; }

  // Returns the number of k-tiles of the unit that is `units` units before or after the last unit
  // taken, if the block takes every `of`-th unit.
  template <class Params>
  __device__ __forceinline__ unsigned k_count_beside(Params const& params, int units, int of) const {
    unsigned const number = next - step + units * int(step / of);
    if constexpr (kStreams) {
      Streams const streams = streams_of(params);
      unsigned const cluster = blockIdx.x / kBlocks;
      return number < streams.count(cluster) ? streams.k_count(cluster, number) : params.tiles_k;
    } else if constexpr (kGroupsK) {
      unsigned const group = number / (rows * columns);
      if (group >= batch) return 0;
      RangeOf<Config> range{};
      range.enter(offsets_of(params), group, params.k);
      return range.tiles();
    } else if constexpr (kOfCluster) {
      return KRange<true>::count(rank, params.slice_tiles, params.longer_slices);
    } else {
      return KRange<true>::count(number / (rows * columns * batch), params.slice_tiles, params.longer_slices);
    }
  }

 private:
  typename index::Either<kGrouped, Groups<Config>, NoGroups>::Type groups;

  template <class Params>
  static __device__ __forceinline__ unsigned const* offsets_of(Params const& params) {
    return reinterpret_cast<unsigned const*>(params.records);
  }

  // Reads the range of K of a unit's group.
  template <class Params>
  static __device__ __forceinline__ void enter_group(Params const& params, Unit<Config>& unit) {
    unit.enter(offsets_of(params), unit.product, params.k);
  }

  template <class Params>
  __device__ __forceinline__ bool take_of_groups(Params const& params, Unit<Config>& unit) {
    constexpr bool down = Config::kRagged == Ragged::M;
    unsigned const across = down ? columns : rows;
    if (!groups.reach(next, offsets_of(params), batch, down ? params.m : params.n, across)) return false;
    unit = groups.unit(next, rank, across);
    next += step;
    return true;
  }

  template <class Params>
  static __device__ __forceinline__ Streams streams_of(Params const& params) {
    return {params.split_k, params.tiles_k, params.slice_tiles, params.longer_slices};
  }

  // Returns a cluster's unit `next`: the units of its span come first, then whole tiles.
  template <class Params>
  __device__ __forceinline__ bool unit_of_stream(Params const& params, unsigned cluster, unsigned next, Unit<Config>& unit) const {
    Streams const streams = streams_of(params);
    unsigned const span = streams.count(cluster);
    unsigned const whole = streams.tiles + cluster + (next - span) * (gridDim.x / kBlocks);
    bool const streamed = next < span;
    unsigned const tile = streamed ? streams.tile(cluster, next) : whole;
    if (tile >= rows * columns * batch) return false;
    unsigned slice = 0, slices = 1, begin = 0, count = params.tiles_k;
    if (streamed) {
      slice = cluster - streams.first_of(tile), slices = streams.slices_of(tile);
      begin = streams.k_begin(cluster, next), count = streams.k_count(cluster, next);
    }
    unit = unit_of_rank<Config>(tile, rank, rows, columns, {slice, tile * kBlocks + rank, (tile + cluster - slice) * kBlocks + rank, slices, begin, count});
    return true;
  }

  template <class Params>
  __device__ __forceinline__ bool take_of_stream(Params const& params, Unit<Config>& unit) {
    if (!unit_of_stream(params, blockIdx.x / kBlocks, next, unit)) return false;
    next += step;
    return true;
  }

  __device__ __forceinline__ Unit<Config> unit_of(unsigned number) const {
    if constexpr (kOfCluster) {
      return slice_of_rank<Config>(number, rank, rows, columns);
    } else if constexpr (Config::kSplitK) {
      unsigned const tiles = rows * columns * batch, slice = number / tiles, tile = number - slice * tiles;
      return unit_of_rank<Config>(tile, rank, rows, columns, {slice, tile * kBlocks + rank});
    } else {
      return unit_of_rank<Config>(number, rank, rows, columns);
    }
  }
};

}  // namespace threadblock
