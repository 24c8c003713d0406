// Twin of src/threadblock/split_k.rs: split-K slices, and the levels of their reduction.
#pragma once
#include "layout/index_map.cuh"

namespace threadblock {

// Range of k-tiles: all of them, or under split-K those of a slice. Without split-K, a stored range
// would occupy a register.
template <bool SplitK>
struct KRange {
  // Slice, and index of its tile among the tiles of all outputs.
  unsigned slice, number;

  // Slices have `tiles` k-tiles each; the first `longer` slices have one more.
  static __device__ __forceinline__ constexpr unsigned begin(unsigned slice, unsigned tiles, unsigned longer) {
    return slice * tiles + (slice < longer ? slice : longer);
  }
  static __device__ __forceinline__ constexpr unsigned count(unsigned slice, unsigned tiles, unsigned longer) { return tiles + (slice < longer); }

  template <class Params>
  __device__ __forceinline__ unsigned k_begin(Params const& params) const {
    return begin(slice, params.slice_tiles, params.longer_slices);
  }
  template <class Params>
  __device__ __forceinline__ unsigned k_count(Params const& params) const {
    return count(slice, params.slice_tiles, params.longer_slices);
  }
  template <class Params>
  __device__ __forceinline__ unsigned slices(Params const& params) const {
    return params.split_k;
  }
  // Slot of the tile's first slice, and the distance in slots between its slices.
  template <class Params>
  __device__ __forceinline__ unsigned long long first_slot(Params const& params) const {
    return (unsigned long long)number * params.split_k;
  }
  static constexpr unsigned apart = 1;
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

// Map from (0, slice) to the slice's first k-tile, and from (1, slice) to its number of k-tiles.
template <int Tiles, int Slices>
struct KSlices {
  static constexpr int kRows = 2;
  static constexpr int kColumns = Slices;
  static __device__ constexpr unsigned at(int row, int slice) {
    return row == 0 ? KRange<true>::begin(slice, Tiles / Slices, Tiles % Slices) : KRange<true>::count(slice, Tiles / Slices, Tiles % Slices);
  }
};

// Level of a tile's reduction. The first level adds groups of kSlicesAtOnce slices; each further
// level adds groups of as many sums.
template <class Config>
struct ReductionLevel {
  static constexpr unsigned kAtOnce = Config::kSlicesAtOnce;

  // First ticket of the level.
  unsigned* tickets;
  // Index of the current slice or sum of slices, number of them on this level, and distance between
  // their slots in elements.
  unsigned slice, slices, apart;

  __device__ __forceinline__ unsigned first() const { return slice / kAtOnce * kAtOnce; }
  __device__ __forceinline__ unsigned members() const { return min(slices - first(), kAtOnce); }
  __device__ __forceinline__ unsigned* ticket() const { return tickets + slice / kAtOnce; }
  // Ascends to the level of the group's sum; returns whether it is the sum of all slices.
  __device__ __forceinline__ bool ascend() {
    slice /= kAtOnce;
    slices = (slices + kAtOnce - 1) / kAtOnce;
    tickets += slices;
    apart *= kAtOnce;
    return slices == 1;
  }
};

// Returns the sum of a thread's accumulators over all slices, if one thread adds all of them, in
// the order of ReductionLevel. `load(slice)` loads the accumulators of a slice, and `add` adds two
// accumulators.
template <unsigned AtOnce, class Access, class Load, class Add>
__device__ __forceinline__ Access sum_slices(unsigned slices, Load load, Add add) {
  // Sum of one group, of AtOnce groups, and of all groups.
  Access sum, of_groups, of_all;
#pragma unroll 1
  for (unsigned first = 0; first < slices; first += AtOnce) {
    Access slice[AtOnce];
#pragma unroll
    for (unsigned i = 0; i < AtOnce; ++i)
      if (first + i < slices) slice[i] = load(first + i);
    sum = slice[0];
#pragma unroll
    for (unsigned i = 1; i < AtOnce; ++i)
      if (first + i < slices) sum = add(sum, slice[i]);
    unsigned const group = first / AtOnce;
    of_groups = group % AtOnce == 0 ? sum : add(of_groups, sum);
    if (group % AtOnce + 1 == AtOnce || first + AtOnce >= slices) of_all = group < AtOnce ? of_groups : add(of_all, of_groups);
  }
  return of_all;
}

// Number of split-K slices.
template <bool SplitK>
struct Slices {
  unsigned const slices;
  template <class Params>
  __device__ __forceinline__ explicit Slices(Params const& params) : slices(params.split_k) {}
};
template <>
struct Slices<false> {
  static constexpr unsigned slices = 1;
  template <class Params>
  __device__ __forceinline__ explicit Slices(Params const&) {}
};

}  // namespace threadblock
