// Twin of src/threadblock/work.rs: which block computes what.
#pragma once
#include "index.cuh"
#include "threadblock/addresses.cuh"
#include "threadblock/parts_of_k.cuh"
#include "threadblock/stream_k.cuh"
#include "threadblock/swizzle.cuh"

namespace threadblock {

// How units are divided among the clusters of a grid.
enum class WorkKind { DataParallel, Persistent, SplitKCluster, StreamK };

// Which product of a batch. Of a launch of one it is the first: a member that is always 0 changes
// registers.
template <bool Batched>
struct Product {
  unsigned product;
};
template <>
struct Product<false> {
  static constexpr unsigned product = 0;
};

// Which extent of A and D, or of B and D, is of groups one behind another, each with a matrix of
// its own on the other side.
enum class Ragged { None, M, N };

// The lines of a group, rows or columns of D: from the first to the one behind the last. Its tiles
// begin at the multiple of `Step` that the first is, or lies behind. Of no groups they are all, and
// nothing is kept.
template <Ragged Axis, unsigned Step>
struct Lines {
  unsigned first, limit;

  __device__ __forceinline__ constexpr unsigned begin() const { return first / Step * Step; }
  __device__ __forceinline__ unsigned first_row() const { return Axis == Ragged::M ? begin() : 0; }
  __device__ __forceinline__ unsigned first_column() const { return Axis == Ragged::N ? begin() : 0; }
  // Where rows end, and columns.
  template <class Params>
  __device__ __forceinline__ unsigned rows(Params const& params) const { return Axis == Ragged::M ? limit : unsigned(params.m); }
  template <class Params>
  __device__ __forceinline__ unsigned columns(Params const& params) const { return Axis == Ragged::N ? limit : unsigned(params.n); }
  // Whether a tile's row, and column, does not lie before the group.
  __device__ __forceinline__ bool have_row(unsigned row) const { return Step == 1 || Axis != Ragged::M || row >= first; }
  __device__ __forceinline__ bool have_column(unsigned column) const { return Step == 1 || Axis != Ragged::N || column >= first; }
  // Whether all of a tile from here on, of so many rows and columns, is the group's.
  __device__ __forceinline__ bool hold(unsigned row, unsigned column, unsigned rows, unsigned columns) const {
    return have_row(row) && have_column(column) && (Axis == Ragged::M ? row + rows : column + columns) <= limit;
  }
};
template <unsigned Step>
struct Lines<Ragged::None, Step> {
  static __device__ __forceinline__ constexpr unsigned first_row() { return 0; }
  static __device__ __forceinline__ constexpr unsigned first_column() { return 0; }
  template <class Params>
  static __device__ __forceinline__ unsigned rows(Params const& params) { return unsigned(params.m); }
  template <class Params>
  static __device__ __forceinline__ unsigned columns(Params const& params) { return unsigned(params.n); }
  static __device__ __forceinline__ constexpr bool have_row(unsigned) { return true; }
  static __device__ __forceinline__ constexpr bool have_column(unsigned) { return true; }
  static __device__ __forceinline__ constexpr bool hold(unsigned, unsigned, unsigned, unsigned) { return true; }
};

// Which k-tiles of a tile a block computes.
template <class Config>
using RangeOf = typename index::Either<Config::kWork == WorkKind::StreamK, StreamedRange<Config::kClusterM * Config::kClusterN>, KRange<Config::kSplitK>>::Type;

// What a block computes at a time: products of some k-tiles, for one tile of a D.
template <class Config>
struct Unit : Product<Config::kBatched>, RangeOf<Config>, Lines<Config::kRagged, Config::kGroupStep> {
  Tile tile;

  // The tile's first row and column of D.
  __device__ __forceinline__ int row() const { return this->first_row() + tile.row * Config::kTileM; }
  __device__ __forceinline__ int column() const { return this->first_column() + tile.column * Config::kTileN; }
};

// Whether a second kernel adds the parts of K, under parallel split-K: then there are no tickets.
// Of streams none does.
template <class Config, class Params>
__device__ __forceinline__ bool adds_apart(Params const& params) {
  if constexpr (Config::kWork == WorkKind::StreamK) return false;
  else return params.tile_tickets == 0;
}

// The matrix of a product at an address, of matrices that lie `stride` elements apart.
template <class Config, class Element>
__device__ __forceinline__ Element* matrix_of(unsigned product, unsigned long long address, long long stride) {
  Element* const first = reinterpret_cast<Element*>(address);
  if constexpr (!Config::kBatched) return first;
  return first + product * stride;
}

// The same of C or D, of which groups have one.
template <class Config, class Element>
__device__ __forceinline__ Element* output_of(unsigned product, unsigned long long address, long long stride) {
  if constexpr (Config::kRagged != Ragged::None) return reinterpret_cast<Element*>(address);
  return matrix_of<Config, Element>(product, address, stride);
}

// The same of matrix `Number` of A, B, C and D: of an array, whose matrices have addresses of their
// own.
template <class Config, int Number, class Element, class Params>
__device__ __forceinline__ Element* matrix_of_product(Params const& params, unsigned product, unsigned long long address, long long stride) {
  if constexpr (Config::kMapped) return reinterpret_cast<Element*>(__ldg(record_of(params.records, product, 4 + Number)));
  else if constexpr (Config::kArray) return reinterpret_cast<Element*>(params.addresses[ProductAddresses<1>::at(product, Number)]);
  else if constexpr (Number < 2) return matrix_of<Config, Element>(product, address, stride);
  else return output_of<Config, Element>(product, address, stride);
}

// Leading dimensions of A and B, and of C and D, of which the compiler knows nothing where they are
// Forgotten: it would keep their multiples from unit to unit.
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
template <bool Forgotten, class Params>
__device__ __forceinline__ decltype(auto) pitches_stored(Params const& params) {
  if constexpr (Forgotten) {
    PitchesStored pitches{params.ldc, params.ldd};
    index::forget(pitches.ldc), index::forget(pitches.ldd);
    return pitches;
  } else {
    return (params);
  }
}

// The number of this block in its cluster.
__device__ __forceinline__ unsigned rank_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// The tile of block `rank` in a rectangle of kClusterM x kClusterN tiles: the one of that number,
// of so many down and across.
template <class Config>
__device__ __forceinline__ constexpr Tile tile_of_rank(unsigned number, unsigned rank, unsigned rows, unsigned columns) {
  Tile const rectangle = tile_of<typename Config::Order>(number, rows, columns);
  return Tile{rectangle.row * Config::kClusterM + rank % Config::kClusterM, rectangle.column * Config::kClusterN + rank / Config::kClusterM};
}

// The unit of block `rank` in a rectangle: the one of that number, of so many down and across each
// D, one D after another.
template <class Config>
__device__ __forceinline__ constexpr Unit<Config> unit_of_rank(unsigned number, unsigned rank, unsigned rows, unsigned columns, RangeOf<Config> range = {}) {
  if constexpr (Config::kBatched) {
    unsigned const product = number / (rows * columns);
    return {{product}, range, {}, tile_of_rank<Config>(number - product * (rows * columns), rank, rows, columns)};
  } else {
    return {{}, range, {}, tile_of_rank<Config>(number, rank, rows, columns)};
  }
}

// The unit of block `rank` of a cluster whose blocks have parts of K: that part of the tile of that
// number.
template <class Config>
__device__ __forceinline__ constexpr Unit<Config> part_of_rank(unsigned number, unsigned rank, unsigned rows, unsigned columns) {
  return unit_of_rank<Config>(number, 0, rows, columns, {rank, number});
}

// The map (rank, rectangle) to the number of a tile, row after row, product after product; where a
// cluster's blocks have parts of it, part after part of each.
template <class Config, int Rows, int Columns, int Products>
struct ClusterTiles {
  static constexpr int kRows = Config::kClusterM * Config::kClusterN * Config::kClusterK;
  static constexpr int kColumns = Products * Rows * Columns;
  static __device__ constexpr unsigned tile(Unit<Config> const& unit) {
    return (unit.product * Rows * Config::kClusterM + unit.tile.row) * Columns * Config::kClusterN + unit.tile.column;
  }
  static __device__ constexpr unsigned at(int rank, int number) {
    if constexpr (Config::kWork == WorkKind::SplitKCluster) {
      Unit<Config> const unit = part_of_rank<Config>(number, rank, Rows, Columns);
      return tile(unit) * Config::kClusterK + unit.part;
    } else {
      return tile(unit_of_rank<Config>(number, rank, Rows, Columns));
    }
  }
};

// A walk over the groups: how many were entered, the lines of the last of them, and the number of
// the first rectangle behind it.
template <class Config>
struct Groups {
  static constexpr bool kDown = Config::kRagged == Ragged::M;
  // Lines of a rectangle.
  static constexpr unsigned kLines = kDown ? Config::kTileM * Config::kClusterM : Config::kTileN * Config::kClusterN;

  unsigned entered = 0, behind = 0;
  Lines<Config::kRagged, Config::kGroupStep> lines{0, 0};

  // Rectangles of the group that was entered; of an empty one none, also where its tiles would
  // begin before it.
  __device__ __forceinline__ constexpr unsigned rectangles() const {
    if (Config::kGroupStep > 1 && lines.first == lines.limit) return 0;
    return (lines.limit - lines.begin() + kLines - 1) / kLines;
  }

  // Goes on to the group of rectangle `number`; false where there is none. Offsets that descend or
  // leave the extent make a group empty, or end it: nothing lies outside.
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

  // The unit of block `rank` in a rectangle of the group that was reached.
  __device__ __forceinline__ constexpr Unit<Config> unit(unsigned number, unsigned rank, unsigned across) const {
    unsigned const along = rectangles();
    Tile const tile = tile_of_rank<Config>(number + along * across - behind, rank, kDown ? along : across, kDown ? across : along);
    return {{entered - 1}, {}, lines, tile};
  }

 private:
  static __device__ __forceinline__ constexpr unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }
};

// The map (rank, rectangle) to the place of a tile among those of so many groups, of which group i
// has the lines of i half rectangles, and one.
template <class Config, int Count, int Across>
struct GroupTiles {
  static constexpr int kRows = Config::kClusterM * Config::kClusterN;
  struct Offsets {
    __device__ constexpr unsigned operator[](unsigned i) const { return i == 0 ? 0 : i * (i - 1) / 2 * Groups<Config>::kLines / 2 + i; }
  };
  // What a grid has at most.
  static constexpr int kColumns = ((Offsets{}[Count] - Count + Count * (Config::kGroupStep - 1)) / Groups<Config>::kLines + Count) * Across;
  static __device__ constexpr unsigned at(int rank, int number) {
    Groups<Config> groups;
    if (!groups.reach(number, Offsets{}, Count, Offsets{}[Count], Across)) return index::kLeftOut;
    Unit<Config> const unit = groups.unit(number, rank, Across);
    return (unit.first << 16) + unit.limit + (unit.product << 12) + (unit.tile.row << 6) + unit.tile.column;
  }
};

// Nothing, where there are no groups to walk over.
struct NoGroups {};

// The units of this block, one after the other. Clusters take rectangles in the order of the
// swizzle, and under split-K those of all first parts before those of all second ones: one each, or
// each the next one after all clusters'.
template <class Config>
struct Work : Parts<Config::kSplitK> {
  // Whether a cluster's blocks have the parts of one tile.
  static constexpr bool kOfCluster = Config::kWork == WorkKind::SplitKCluster;
  static constexpr unsigned kBlocks = kOfCluster ? Config::kClusterK : Config::kClusterM * Config::kClusterN;
  static constexpr bool kGrouped = Config::kRagged != Ragged::None;
  static constexpr bool kStreams = Config::kWork == WorkKind::StreamK;
  static_assert(!kStreams || (Config::kSplitK && !kGrouped), "streams have parts of K");
  static_assert(!kGrouped || (Config::kBatched && !Config::kSplitK), "groups are a batch, whose K is whole");

  // The extents of a D in rectangles, and Ds.
  unsigned const rows;
  unsigned const columns;
  unsigned const batch;
  unsigned const rank = kBlocks > 1 ? rank_in_cluster() : 0;
  unsigned next = blockIdx.x / kBlocks;
  unsigned step = gridDim.x / kBlocks;

  template <class Params>
  __device__ __forceinline__ explicit Work(Params const& params)
      : Parts<Config::kSplitK>(params), rows(params.tiles_m), columns(params.tiles_n), batch(Config::kBatched ? params.batch : 1) {
    // Streams count a cluster's units.
    if constexpr (kStreams) next = 0, step = 1;
  }

  // Of the block's units only one of `of`, from the first-th on.
  __device__ __forceinline__ void every(unsigned first, unsigned of) {
    next += first * step;
    step *= of;
  }

  // The first unit, which every block of a grid has; of groups, whose number of tiles the host need
  // not know, and of streams, false where there is none.
  template <class Params>
  __device__ __forceinline__ bool first(Params const& params, Unit<Config>& unit) {
    if constexpr (kGrouped) return take_of_groups(params, unit);
    else if constexpr (kStreams) return take_of_stream(params, unit);
    unit = unit_of(next);
    next += step;
    return true;
  }

  // The next unit; false where there is none, as behind the first of a data-parallel grid. Its tile
  // may lie beyond D where D is no whole number of rectangles.
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
      if (next >= rows * columns * batch * this->parts) return false;
      unit = unit_of(next);
      next += step;
      return true;
    }
  }

  // The unit that was taken last is found again, so that its facts need no registers meanwhile: of
  // a stream, and the only one of a block.
  template <class Params>
  __device__ __forceinline__ void recall(Params const& params, Unit<Config>& unit) {
    if constexpr (kStreams) {
      // It was there.
      if (!unit_of_stream(params, index::block_again() / kBlocks, next - step, unit)) __builtin_unreachable();
    } else {
      static_assert(Config::kWork == WorkKind::DataParallel && !kGrouped, "a block that has one unit");
      unit = unit_of(index::block_again() / kBlocks);
    }
  }

  // Of a cluster whose blocks have parts, whether there is another unit behind the one that was
  // taken last.
  __device__ __forceinline__ bool has_next() const { return next < rows * columns * batch; }

  // The k-tiles of the unit that is so many units of the block from the one that was taken last,
  // where the block takes one of `of`.
  template <class Params>
  __device__ __forceinline__ unsigned k_count_beside(Params const& params, int units, int of) const {
    unsigned const number = next - step + units * int(step / of);
    if constexpr (kStreams) {
      Streams const streams = streams_of(params);
      unsigned const cluster = blockIdx.x / kBlocks;
      return number < streams.count(cluster) ? streams.k_count(cluster, number) : params.tiles_k;
    } else if constexpr (kOfCluster) {
      return KRange<true>::count(rank, params.part_tiles, params.longer_parts);
    } else {
      return KRange<true>::count(number / (rows * columns * batch), params.part_tiles, params.longer_parts);
    }
  }

 private:
  typename index::Either<kGrouped, Groups<Config>, NoGroups>::Type groups;

  template <class Params>
  __device__ __forceinline__ bool take_of_groups(Params const& params, Unit<Config>& unit) {
    constexpr bool down = Config::kRagged == Ragged::M;
    unsigned const across = down ? columns : rows;
    if (!groups.reach(next, reinterpret_cast<unsigned const*>(params.offsets), batch, down ? params.m : params.n, across)) return false;
    unit = groups.unit(next, rank, across);
    next += step;
    return true;
  }

  template <class Params>
  static __device__ __forceinline__ Streams streams_of(Params const& params) {
    return {params.split_k, params.tiles_k, params.part_tiles, params.longer_parts};
  }

  // A cluster's unit of that number: one of its span, and then whole tiles.
  template <class Params>
  __device__ __forceinline__ bool unit_of_stream(Params const& params, unsigned cluster, unsigned next, Unit<Config>& unit) const {
    Streams const streams = streams_of(params);
    unsigned const span = streams.count(cluster);
    unsigned const whole = streams.tiles + cluster + (next - span) * (gridDim.x / kBlocks);
    bool const streamed = next < span;
    unsigned const tile = streamed ? streams.tile(cluster, next) : whole;
    if (tile >= rows * columns * batch) return false;
    unsigned part = 0, parts = 1, begin = 0, count = params.tiles_k;
    if (streamed) {
      part = cluster - streams.first_of(tile), parts = streams.parts_of(tile);
      begin = streams.k_begin(cluster, next), count = streams.k_count(cluster, next);
    }
    unit = unit_of_rank<Config>(tile, rank, rows, columns, {part, tile * kBlocks + rank, (tile + cluster - part) * kBlocks + rank, parts, begin, count});
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
      return part_of_rank<Config>(number, rank, rows, columns);
    } else if constexpr (Config::kSplitK) {
      unsigned const tiles = rows * columns * batch, part = number / tiles, tile = number - part * tiles;
      return unit_of_rank<Config>(tile, rank, rows, columns, {part, tile * kBlocks + rank});
    } else {
      return unit_of_rank<Config>(number, rank, rows, columns);
    }
  }
};

}  // namespace threadblock
