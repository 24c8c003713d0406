// Twin of src/warp/wgmma: fragments, operand tiles, and descriptors of a warpgroup's MMA.
// The instructions are generated, only those of the current kernel.
#pragma once
#include "layout/index_map.cuh"
#include "threadblock/smem.cuh"
#include "warp/warpgroup.cuh"

namespace warp {

// Map from (thread, accumulator) to m * N + n.
template <int N, FragmentRows Rows = FragmentRows::Ordinary>
struct AccumulatorMap {
  static constexpr int kRows = kWarpgroup;
  static constexpr int kColumns = N / 2;
  static __device__ __forceinline__ constexpr int m(int thread, int i) { return warpgroup_row<Rows>(thread, i / 2 % 2); }
  static __device__ __forceinline__ constexpr int n(int thread, int i) { return 2 * (thread % 4) + i % 2 + 8 * (i / 4); }
  static __device__ __forceinline__ constexpr int at(int thread, int i) { return m(thread, i) * N + n(thread, i); }
};

// Map from (thread, element of A in registers) to m * K + k, for one instruction.
template <int ElementBytes>
struct WarpgroupFragmentMap {
  static constexpr int kPacked = 4 / ElementBytes;
  static constexpr int kK = 32 / ElementBytes;
  static constexpr int kRows = kWarpgroup;
  static constexpr int kColumns = 4 * kPacked;
  static __device__ __forceinline__ constexpr int m(int thread, int i) { return warpgroup_row<>(thread, i / kPacked % 2); }
  static __device__ __forceinline__ constexpr int k(int thread, int i) {
    return kPacked * (thread % 4) + i % kPacked + 4 * kPacked * (i / (2 * kPacked));
  }
  static __device__ __forceinline__ constexpr int at(int thread, int i) { return m(thread, i) * kK + k(thread, i); }
};

// Map from (mn, k) of an operand's tile to an offset in elements; a tile is a sequence of boxes.
template <class Tile>
struct OperandTile {
  using Box = smem::SmemTile<Tile>;
  static constexpr int kRows = Tile::kMn;
  static constexpr int kColumns = Tile::kK;
  static __device__ __forceinline__ constexpr int at(int mn, int k) {
    constexpr int beside = Tile::kK / Tile::kTileK, elements = Tile::kTileMn * Tile::kTileK;
    return (mn / Tile::kTileMn * beside + k / Tile::kTileK) * elements + Box::at(mn % Tile::kTileMn, k % Tile::kTileK);
  }
};

// Returns the descriptor of a tile at a shared-memory address, from row Mn on. The address must
// begin a swizzle atom.
template <class Tile, int Mn = 0>
__device__ __forceinline__ constexpr unsigned long long descriptor(unsigned shared_address) {
  constexpr unsigned from = OperandTile<Tile>::at(Mn, 0) * Tile::kElementBytes;
  return Tile::kDescriptor | (((shared_address + from) & 0x3ffffu) >> 4);
}

// Returns the descriptor of the same tile, `mn` rows or columns further on.
template <class Tile>
__device__ __forceinline__ constexpr unsigned long long further(unsigned long long descriptor, int mn) {
  return descriptor + (unsigned long long)(OperandTile<Tile>::at(mn, 0) * Tile::kElementBytes / 16);
}

// Pins the accumulators in their registers: the compiler may not move accesses to them across a
// wait.
template <int Count>
__device__ __forceinline__ void keep(float (&accumulators)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(accumulators[i])::"memory");
}

template <class Word, int Count>
__device__ __forceinline__ void keep(Word (&accumulators)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+r"(accumulators[i])::"memory");
}

}  // namespace warp
