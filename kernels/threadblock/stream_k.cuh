// Twin of src/threadblock/stream_k.rs: the k-tiles of some tiles, in spans of as many for each
// cluster.
#pragma once
#include "index.cuh"

namespace threadblock {

// Tiles that are streamed, k-tiles of each; k-tiles of a cluster's span, and how many spans have
// one more.
struct Streams {
  unsigned tiles, tiles_k, each, longer;

  // The first k-tile of a cluster's span.
  __device__ __forceinline__ constexpr unsigned begin(unsigned cluster) const { return cluster * each + (cluster < longer ? cluster : longer); }

  // The cluster in whose span a k-tile lies.
  __device__ __forceinline__ constexpr unsigned cluster_of(unsigned k_tile) const {
    unsigned const of_longer = longer * (each + 1);
    return k_tile < of_longer ? k_tile / (each + 1) : longer + (k_tile - of_longer) / each;
  }

  // Units of a cluster's span.
  __device__ __forceinline__ constexpr unsigned count(unsigned cluster) const {
    unsigned const first = begin(cluster), end = begin(cluster + 1);
    return first == end ? 0 : (end - 1) / tiles_k - first / tiles_k + 1;
  }

  // The tile of unit `i` of a cluster's span.
  __device__ __forceinline__ constexpr unsigned tile(unsigned cluster, unsigned i) const { return begin(cluster) / tiles_k + i; }

  // The first k-tile of a unit in its tile, and how many it has.
  __device__ __forceinline__ constexpr unsigned k_begin(unsigned cluster, unsigned i) const {
    unsigned const first = tile(cluster, i) * tiles_k;
    return begin(cluster) > first ? begin(cluster) - first : 0;
  }
  __device__ __forceinline__ constexpr unsigned k_count(unsigned cluster, unsigned i) const {
    unsigned const first = tile(cluster, i) * tiles_k, end = begin(cluster + 1);
    return (end < first + tiles_k ? end - first : tiles_k) - k_begin(cluster, i);
  }

  // The clusters that have a part of a tile: the first of them, and how many.
  __device__ __forceinline__ constexpr unsigned first_of(unsigned tile) const { return cluster_of(tile * tiles_k); }
  __device__ __forceinline__ constexpr unsigned parts_of(unsigned tile) const { return cluster_of((tile + 1) * tiles_k - 1) - first_of(tile) + 1; }
};

// What a block has of a tile in place of a KRange: its cluster's part, of so many, and k-tiles.
// Slots of a tile's parts are those of neighbouring clusters, as many apart as a cluster has
// blocks.
template <unsigned Blocks>
struct StreamedRange {
  // The part; the number of its tile among those of all Ds; the slot of the tile's first part.
  unsigned part, number, slot;
  // Parts of the tile; the part's first k-tile, and how many it has.
  unsigned of, begin, count;

  template <class Params>
  __device__ __forceinline__ unsigned k_begin(Params const&) const {
    return begin;
  }
  template <class Params>
  __device__ __forceinline__ unsigned k_count(Params const&) const {
    return count;
  }
  template <class Params>
  __device__ __forceinline__ unsigned parts(Params const&) const {
    return of;
  }
  template <class Params>
  __device__ __forceinline__ unsigned long long first_slot(Params const&) const {
    return slot;
  }
  static constexpr unsigned apart = Blocks;
};

// The map (fact, cluster and unit) to a fact of a unit, of which a cluster has at most so many: its
// tile, part, parts, first k-tile, and how many.
template <int Tiles, int TilesK, int Clusters, int Units>
struct StreamedParts {
  static constexpr int kRows = 5;
  static constexpr int kColumns = Clusters * Units;
  static __device__ constexpr unsigned at(int fact, int number) {
    Streams const streams{Tiles, TilesK, unsigned(Tiles * TilesK / Clusters), unsigned(Tiles * TilesK % Clusters)};
    unsigned const cluster = number / Units, i = number % Units;
    if (i >= streams.count(cluster)) return index::kLeftOut;
    unsigned const tile = streams.tile(cluster, i), first = streams.first_of(tile);
    switch (fact) {
      case 0: return tile;
      case 1: return cluster - first;
      case 2: return streams.parts_of(tile);
      case 3: return streams.k_begin(cluster, i);
      default: return streams.k_count(cluster, i);
    }
  }
};

}  // namespace threadblock
