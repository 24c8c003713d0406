// Twin of src/threadblock/tensor_copy.rs: copies of boxes by TMA, and the layout of a box. Requires
// sm_90. src/codegen/tensors.rs declares `TensorMap`. One thread issues a copy. The waits for
// copies are in schedule/roles.cuh; this file has only copies, whose mnemonics name the kind of
// barrier that a load completes on.
#pragma once

namespace threadblock {

// Returns the swizzled shared-memory address of a byte: Bits bits of the line index permute 16-byte
// chunks.
template <int Bits>
__device__ __forceinline__ constexpr unsigned swizzled(unsigned address) {
  return address ^ (address / 128 % (1u << Bits) * 16);
}

// Map from (row of the box, element of the row) to an offset from the tile, in elements.
template <int Rows, int Columns, int ElementBytes, int SwizzleBits, int Address>
struct SharedBox {
  static constexpr int kRows = Rows;
  static constexpr int kColumns = Columns;
  static __device__ constexpr unsigned at(int row, int column) {
    return (swizzled<SwizzleBits>(Address + (row * Columns + column) * ElementBytes) - Address) / ElementBytes;
  }
};

// Coordinate of a box's first element in its tensor, contiguous dimension first. It may lie
// outside.
template <int Rank>
struct Corner {
  static_assert(Rank >= 2 && Rank <= 4, "matrices, pairs of them, and batches");
  int at[Rank];
};

// Returns the corner of a box. In a batch, the corner includes the GEMM's index if each GEMM has
// its own matrix. In a pointer array, it includes the position of the GEMM's matrix. Grouped GEMM
// has a single D, and a single A or B along the ragged axis.
template <class Config, int Number, class Params, class Pair>
__device__ __forceinline__ Corner<Config::kBatched ? 3 : 2> box_corner(Params const& params, unsigned product, Pair const& positions, int along, int across) {
  if constexpr (!Config::kBatched) {
    return {{along, across}};
  } else if constexpr (Config::kArray) {
    return {{along, across, positions.template get<Number>()}};
  } else {
    if constexpr (divides_d(Config::kRagged) && Number != (Config::kRagged == Ragged::M ? 1 : 0)) return {{along, across, 0}};
    bool const own = Number == 3 || params.own >> Number & 1;
    return {{along, across, own ? int(product) : 0}};
  }
}

// Returns the corner of a box of the two matrices of B that a gate combines. `matrix` is the index
// of the matrix in the tensor, whose dimension is 2 if K is contiguous, or else 1.
template <class Config, bool AlongK, class Params, class Pair>
__device__ __forceinline__ auto gate_corner(Params const& params, unsigned product, Pair const& positions, int column, int k, int matrix) {
  auto const of_matrix = box_corner<Config, 1>(params, product, positions, AlongK ? k : column, AlongK ? column : k);
  if constexpr (Config::kBatched) return Corner<4>{{of_matrix.at[0], AlongK ? of_matrix.at[1] : matrix, AlongK ? matrix : of_matrix.at[1], of_matrix.at[2]}};
  else return Corner<3>{{of_matrix.at[0], AlongK ? of_matrix.at[1] : matrix, AlongK ? matrix : of_matrix.at[1]}};
}

// L2 cache policy of a copy, as an operand of the copy.
struct CachePolicy {
  unsigned long long word;
};

// Evict first: for data that is read once.
__device__ __forceinline__ CachePolicy evict_first() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy.word));
  return policy;
}

// Evict last: for data that other blocks will read again.
__device__ __forceinline__ CachePolicy evict_last() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy.word));
  return policy;
}

// Prefetches a tensor map before its first use.
__device__ __forceinline__ void prefetch(TensorMap const& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Loads a box to shared memory at `tile`, and completes its bytes on the barrier at `full`. Both
// are shared-memory addresses.
template <int Rank>
__device__ __forceinline__ void load(unsigned tile, TensorMap const& map, Corner<Rank> corner, unsigned full) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]) : "memory");
  else if constexpr (Rank == 3)
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "r"(c[2]) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]) : "memory");
}

// Loads a box with an L2 cache hint.
template <int Rank>
__device__ __forceinline__ void load(unsigned tile, TensorMap const& map, Corner<Rank> corner, unsigned full, CachePolicy policy) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "l"(policy.word) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "r"(c[2]), "l"(policy.word) : "memory");
}

// Loads a box to the same offset in each block of the cluster whose rank's bit is set in `mask`.
// Its bytes complete on the barrier at the same offset of each of these blocks.
template <int Rank>
__device__ __forceinline__ void load_multicast(unsigned tile, TensorMap const& map, Corner<Rank> corner, unsigned full, unsigned short mask) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "h"(mask) : "memory");
  else if constexpr (Rank == 3)
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "r"(c[2]), "h"(mask) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "h"(mask) : "memory");
}

// Multicasts a box with an L2 cache hint.
template <int Rank>
__device__ __forceinline__ void load_multicast(unsigned tile, TensorMap const& map, Corner<Rank> corner, unsigned full, unsigned short mask, CachePolicy policy) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "h"(mask), "l"(policy.word) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6, %7;" ::"r"(tile), "l"(&map), "r"(full), "r"(c[0]), "r"(c[1]), "r"(c[2]), "h"(mask), "l"(policy.word) : "memory");
}

// Stores the part of a box that lies in the tensor, from shared memory at `tile`. The copy belongs
// to the thread's open bulk group.
template <int Rank>
__device__ __forceinline__ void store(TensorMap const& map, Corner<Rank> corner, unsigned tile) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(tile), "r"(c[0]), "r"(c[1]) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map), "r"(tile), "r"(c[0]), "r"(c[1]), "r"(c[2]) : "memory");
}

// Stores a box with an L2 cache hint.
template <int Rank>
__device__ __forceinline__ void store(TensorMap const& map, Corner<Rank> corner, unsigned tile, CachePolicy policy) {
  int const(&c)[Rank] = corner.at;
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%2, %3}], [%1], %4;" ::"l"(&map), "r"(tile), "r"(c[0]), "r"(c[1]), "l"(policy.word) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%2, %3, %4}], [%1], %5;" ::"l"(&map), "r"(tile), "r"(c[0]), "r"(c[1]), "r"(c[2]), "l"(policy.word) : "memory");
}

// Stores four words to the shared memory of a block of the cluster, and completes their bytes on
// that block's barrier. Both are cluster shared-memory addresses. The operands keep the
// accumulators' type: moved to other registers, ptxas would serialize the products.
__device__ __forceinline__ void send(unsigned to, unsigned barrier, float a, float b, float c, float d) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "f"(a), "f"(b), "f"(c), "f"(d), "r"(barrier) : "memory");
}
__device__ __forceinline__ void send(unsigned to, unsigned barrier, int a, int b, int c, int d) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d), "r"(barrier) : "memory");
}

}  // namespace threadblock
