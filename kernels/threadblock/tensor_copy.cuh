// Twin of src/threadblock/tensor_copy.rs: copies of boxes by TMA, and where a box's elements lie.
// sm_90 on. `TensorMap` is declared by src/codegen/tensors.rs. One thread issues a copy. What waits
// for copies is in schedule/roles.cuh: here stand the copies alone, whose mnemonic names the kind
// of barrier that a load completes on.
#pragma once

namespace threadblock {

// Where the byte goes that would lie at a shared memory address: Bits bits of the line's number
// move 16-byte chunks.
template <int Bits>
__device__ __forceinline__ constexpr unsigned swizzled(unsigned address) {
  return address ^ (address / 128 % (1u << Bits) * 16);
}

// The map (row of the box, element of the row) to an offset from the tile, in elements.
template <int Rows, int Columns, int ElementBytes, int SwizzleBits, int Address>
struct SharedBox {
  static constexpr int kRows = Rows;
  static constexpr int kColumns = Columns;
  static __device__ constexpr unsigned at(int row, int column) {
    return (swizzled<SwizzleBits>(Address + (row * Columns + column) * ElementBytes) - Address) / ElementBytes;
  }
};

// The first element of a box in its tensor, the contiguous dimension first. It may lie outside.
template <int Rank>
struct Corner {
  static_assert(Rank == 2 || Rank == 3, "matrices, and batches of them");
  int at[Rank];
};

// The map of tensor `Number` of a kernel's parameters, A, B, C or D: of an array, of a product's
// own matrix, where it may lie in memory.
template <class Config, int Number, class Params>
__device__ __forceinline__ TensorMap const& map_of(Params const& params, unsigned product) {
  if constexpr (Config::kMapped) return *reinterpret_cast<TensorMap const*>(record_of(params.records, product, Number));
  else if constexpr (Config::kArray) return params.maps[ProductAddresses<1>::at(product, Number)];
  else if constexpr (Number == 0) return params.a;
  else if constexpr (Number == 1) return params.b;
  else if constexpr (Number == 2) return params.source;
  else return params.d;
}

// The corner of a box of it: of a batch's product where each has a matrix of its own, as each has a
// D. Groups have one D, and of A and B the one whose lines are theirs.
template <class Config, int Number, class Params>
__device__ __forceinline__ Corner<Config::kBatched && !Config::kArray ? 3 : 2> corner_of(Params const& params, unsigned product, int along, int across) {
  if constexpr (!Config::kBatched || Config::kArray) {
    return {{along, across}};
  } else {
    constexpr bool grouped = Config::kRagged != Ragged::None;
    if constexpr (grouped && Number != (Config::kRagged == Ragged::M ? 1 : 0)) return {{along, across, 0}};
    bool const own = Number == 3 || params.own >> Number & 1;
    return {{along, across, own ? int(product) : 0}};
  }
}

// What the second-level cache does with what a copy touches, as an operand of the copy.
struct CachePolicy {
  unsigned long long word;
};

// The first to be given up: what is read once.
__device__ __forceinline__ CachePolicy evict_first() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy.word));
  return policy;
}

// The last to be given up: what other blocks will read again.
__device__ __forceinline__ CachePolicy evict_last() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy.word));
  return policy;
}

// Brings a map near before it is first used.
__device__ __forceinline__ void prefetch(TensorMap const& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Loads a box to shared memory at `tile`; the barrier at `full` is told of its bytes. Both are
// addresses in shared memory.
template <int Rank>
__device__ __forceinline__ void load(unsigned tile, TensorMap const& map, Corner<Rank> corner, unsigned full) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "r"(c[2]) : "memory");
}

// The same, with a hint to the second-level cache.
template <int Rank>
__device__ __forceinline__ void load(unsigned tile, TensorMap const& map, Corner<Rank> corner, unsigned full, CachePolicy policy) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "l"(policy.word) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "r"(c[2]), "l"(policy.word) : "memory");
}

// Loads a box to the same place of each block of the cluster whose rank's bit is in `mask`; the
// barrier at the same place of each is told of its bytes.
template <int Rank>
__device__ __forceinline__ void load_multicast(unsigned tile, TensorMap const& map, Corner<Rank> corner, unsigned full, unsigned short mask) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "h"(mask) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "r"(c[2]), "h"(mask) : "memory");
}

// The same, with a hint to the second-level cache.
template <int Rank>
__device__ __forceinline__ void load_multicast(unsigned tile, TensorMap const& map, Corner<Rank> corner, unsigned full, unsigned short mask, CachePolicy policy) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "h"(mask), "l"(policy.word) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6, %7;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "r"(c[2]), "h"(mask), "l"(policy.word) : "memory");
}

// Stores what of the box lies in the tensor, from shared memory at `tile`. The copy belongs to the
// thread's open bulk group.
template <int Rank>
__device__ __forceinline__ void store(TensorMap const& map, Corner<Rank> corner, unsigned tile) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(tile), "r"(c[0]), "r"(c[1]) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map), "r"(tile), "r"(c[0]), "r"(c[1]), "r"(c[2]) : "memory");
}

// The same, with a hint to the second-level cache.
template <int Rank>
__device__ __forceinline__ void store(TensorMap const& map, Corner<Rank> corner, unsigned tile, CachePolicy policy) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%2, %3}], [%1], %4;" ::"l"(&map), "r"(tile), "r"(c[0]), "r"(c[1]), "l"(policy.word) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%2, %3, %4}], [%1], %5;" ::"l"(&map), "r"(tile), "r"(c[0]), "r"(c[1]), "r"(c[2]), "l"(policy.word) : "memory");
}

// Stores four words to shared memory of a block of the cluster; that block's barrier is told of
// their bytes. Both are addresses in the cluster's shared memory. Registers stay of the type that
// products leave in them: moved to others, ptxas would have products wait for each other.
__device__ __forceinline__ void send(unsigned to, unsigned barrier, float a, float b, float c, float d) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "f"(a), "f"(b), "f"(c), "f"(d), "r"(barrier) : "memory");
}
__device__ __forceinline__ void send(unsigned to, unsigned barrier, int a, int b, int c, int d) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d), "r"(barrier) : "memory");
}

}  // namespace threadblock
