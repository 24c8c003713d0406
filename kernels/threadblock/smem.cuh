// Twin of src/threadblock/smem.rs: shared-memory layout of an operand's tile.
#pragma once

namespace smem {

// Map from (mn, k) to an offset in elements.
template <class Operand>
struct SmemTile {
  static constexpr int kRows = Operand::kTileMn;
  static constexpr int kColumns = Operand::kTileK;

  // Whether at(mn + a, k + b) = at(mn, k) + at(a, b). The compile-time part then folds into an
  // access's address.
  static constexpr bool kLinear = Operand::kSwizzleBits == 0;

  static __device__ __forceinline__ constexpr int at(int mn, int k) {
    int const row = Operand::kAlongK ? mn : k;
    int const column = Operand::kAlongK ? k : mn;
    if constexpr (kLinear) {
      return row * Operand::kPitch + column;
    } else {
      constexpr int mask = (1 << Operand::kSwizzleBits) - 1;
      return row * Operand::kPitch + (column ^ (((row >> Operand::kSwizzleShift) & mask) << Operand::kSwizzleBase));
    }
  }

  // Two parts of at(mn + a, k + b): the part that a thread can add to its address once, and the
  // rest for each access.
  static __device__ __forceinline__ constexpr int base(int mn, int k) { return kLinear ? at(mn, k) : 0; }
  static __device__ __forceinline__ constexpr int rest(int mn, int k, int a, int b) { return kLinear ? at(a, b) : at(mn + a, k + b); }

  // Returns a part of a coordinate, opaque to the compiler, so that a swizzled address is computed
  // at its use. If hoisted out of the main loop, the addresses of all accesses would each occupy a
  // register.
  static __device__ __forceinline__ int here(int part) {
    if constexpr (!kLinear) asm volatile("" : "+r"(part));
    return part;
  }
};

// Tile that is a sequence of boxes along MN: a map from (mn, k) to an offset in elements. Operand
// is one box.
template <class Operand>
struct BoxedTile {
  static constexpr int kRows = Operand::kMn;
  static constexpr int kColumns = Operand::kTileK;
  static __device__ __forceinline__ constexpr int at(int mn, int k) {
    return mn / Operand::kTileMn * (Operand::kTileMn * Operand::kTileK) + SmemTile<Operand>::at(mn % Operand::kTileMn, k);
  }
};

}  // namespace smem
