// Twin of src/threadblock/parts_of_k.rs: K in parts, and how far their adding has come.
#pragma once
#include "index.cuh"

namespace threadblock {

// Which k-tiles: all, or, under split-K, those of a part. Of all, a range that is kept would take a
// register.
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
  template <class Params>
  __device__ __forceinline__ unsigned parts(Params const& params) const {
    return params.split_k;
  }
  // The slot of the tile's first part, and how many slots further each other's is.
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

// The map (0, part) to the first k-tile of a part, and (1, part) to how many it has.
template <int Tiles, int Parts>
struct PartsOfK {
  static constexpr int kRows = 2;
  static constexpr int kColumns = Parts;
  static __device__ constexpr unsigned at(int row, int part) {
    return row == 0 ? KRange<true>::begin(part, Tiles / Parts, Tiles % Parts) : KRange<true>::count(part, Tiles / Parts, Tiles % Parts);
  }
};

// How far the adding of a tile's parts has come: at first it is of the parts, then of the sums of
// every kPartsAtOnce neighbours, and so on.
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

// The sum of a thread's accumulators of all parts, where one thread adds all of them, in the order
// of PartsLevel: of every AtOnce neighbours, then of as many such sums, and so on. `load(part)`
// brings those of a part, and `add` adds those of two.
template <unsigned AtOnce, class Access, class Load, class Add>
__device__ __forceinline__ Access sum_of_parts(unsigned parts, Load load, Add add) {
  // Of one group, of AtOnce groups, and of all.
  Access sum, of_groups, of_all;
#pragma unroll 1
  for (unsigned first = 0; first < parts; first += AtOnce) {
    Access part[AtOnce];
#pragma unroll
    for (unsigned i = 0; i < AtOnce; ++i)
      if (first + i < parts) part[i] = load(first + i);
    sum = part[0];
#pragma unroll
    for (unsigned i = 1; i < AtOnce; ++i)
      if (first + i < parts) sum = add(sum, part[i]);
    unsigned const group = first / AtOnce;
    of_groups = group % AtOnce == 0 ? sum : add(of_groups, sum);
    if (group % AtOnce + 1 == AtOnce || first + AtOnce >= parts) of_all = group < AtOnce ? of_groups : add(of_all, of_groups);
  }
  return of_all;
}

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

}  // namespace threadblock
