// Twin of src/threadblock/stream_k.rs: the k-tiles of some tiles, divided into one span per
// cluster.
#pragma once
#include "layout/index_map.cuh"

namespace threadblock {

// Streamed tiles, and k-tiles per tile; k-tiles per span, and the number of spans with one more.
struct Streams {
  unsigned tiles, tiles_k, each, longer;

  // Returns the first k-tile of a cluster's span.
  __device__ __forceinline__ constexpr unsigned begin(unsigned cluster) const { return cluster * each + (cluster < longer ? cluster : longer); }

  // Returns the cluster whose span contains a k-tile.
  __device__ __forceinline__ constexpr unsigned cluster_of(unsigned k_tile) const {
    unsigned const of_longer = longer * (each + 1);
    return k_tile < of_longer ? k_tile / (each + 1) : longer + (k_tile - of_longer) / each;
  }

  // Returns the number of work units in a cluster's span.
  __device__ __forceinline__ constexpr unsigned count(unsigned cluster) const {
    unsigned const first = begin(cluster), end = begin(cluster + 1);
    return first == end ? 0 : (end - 1) / tiles_k - first / tiles_k + 1;
  }

  // Returns the tile of unit `i` of a cluster's span.
  __device__ __forceinline__ constexpr unsigned tile(unsigned cluster, unsigned i) const { return begin(cluster) / tiles_k + i; }

  // Return the first k-tile of a unit in its tile, and its number of k-tiles.
  __device__ __forceinline__ constexpr unsigned k_begin(unsigned cluster, unsigned i) const {
    unsigned const first = tile(cluster, i) * tiles_k;
    return begin(cluster) > first ? begin(cluster) - first : 0;
  }
  __device__ __forceinline__ constexpr unsigned k_count(unsigned cluster, unsigned i) const {
    unsigned const first = tile(cluster, i) * tiles_k, end = begin(cluster + 1);
    return (end < first + tiles_k ? end - first : tiles_k) - k_begin(cluster, i);
  }

  // Return the first cluster with a slice of a tile, and the number of such clusters.
  __device__ __forceinline__ constexpr unsigned first_of(unsigned tile) const { return cluster_of(tile * tiles_k); }
  __device__ __forceinline__ constexpr unsigned slices_of(unsigned tile) const { return cluster_of((tile + 1) * tiles_k - 1) - first_of(tile) + 1; }
};

// Slice of a tile in place of a KRange. Neighboring clusters have the slices of a tile, so their
// slots are as far apart as a cluster has blocks.
template <unsigned Blocks>
struct StreamedRange {
  // Slice, index of its tile among the tiles of all outputs, and slot of the tile's first slice.
  unsigned slice, number, slot;
  // Number of slices of the tile; the slice's first k-tile, and its number of k-tiles.
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
  __device__ __forceinline__ unsigned slices(Params const&) const {
    return of;
  }
  template <class Params>
  __device__ __forceinline__ unsigned long long first_slot(Params const&) const {
    return slot;
  }
  static constexpr unsigned apart = Blocks;
};

// Map from (fact, cluster * Units + unit) to a fact of a unit: its tile, slice, slices, first
// k-tile, and number of k-tiles.
template <int Tiles, int TilesK, int Clusters, int Units>
struct StreamedSlices {
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
      case 2: return streams.slices_of(tile);
      case 3: return streams.k_begin(cluster, i);
      default: return streams.k_count(cluster, i);
    }
  }
};

}  // namespace threadblock
