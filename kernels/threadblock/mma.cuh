// Twin of src/threadblock/mma/mod.rs: the main loop of a block, along K.
#pragma once
#include "schedule.cuh"
#include "threadblock/smem.cuh"
#include "threadblock/tile_iterator.cuh"

namespace threadblock {

// Common part of all main loops: the walk over both operands, the ring of stages, and the WarpMma.
// Derived adds the copies.
template <class Config, class WarpMma, class Derived>
struct Mma {
  using Warp = WarpMma;
  using IteratorA = TileIterator<typename Config::A>;
  using IteratorB = TileIterator<typename Config::B>;

  IteratorA a;
  IteratorB b;
  WarpMma warp_mma;
  // The thread's part of both operands, in the stage being written.
  char* to_a;
  char* to_b;
  // Number of tiles, and the numbers of tiles written and read so far.
  int tiles, written = 0, read = 0;
  // Stages of tiles `written` and `read`.
  int write_stage = 0, read_stage = 0;

  __device__ __forceinline__ Mma(char* shared, IteratorA const& a, IteratorB const& b, int thread, int tiles)
      : a(a), b(b), warp_mma(shared, thread), to_a(place<typename Config::A>(shared, a)), to_b(place<typename Config::B>(shared, b)), tiles(tiles) {}

  // Skips the first `tiles` k-tiles.
  __device__ __forceinline__ void skip(unsigned tiles) {
    a.skip(tiles);
    b.skip(tiles);
  }

  __device__ __forceinline__ void run() {
    Derived& self = static_cast<Derived&>(*this);
    schedule::perform<typename Config::Schedule::Prologue>(self);
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) schedule::perform<typename Config::Schedule::Body>(self);
  }

  __device__ __forceinline__ bool writes() const { return written < tiles; }

  // Counts one more tile as written.
  __device__ __forceinline__ void wrote() {
    ++written;
    int const bytes = next(write_stage);
    to_a += bytes;
    to_b += bytes;
    a.advance();
    b.advance();
  }

  // Steps that all main loops share.
  template <StepKind Kind, int First, int Second>
  __device__ __forceinline__ void step() {
    if constexpr (Kind == StepKind::Load) {
      // Only the first k-block can lie beyond the last tile.
      if (First != 0 || read < tiles) warp_mma.template load<First>();
    } else if constexpr (Kind == StepKind::LoadA) {
      if (First != 0 || read < tiles) warp_mma.template load_a<First>();
    } else if constexpr (Kind == StepKind::Multiply) {
      warp_mma.template multiply<First>();
    } else if constexpr (Kind == StepKind::MultiplyLoad) {
      warp_mma.template multiply_load<First, Second>(Second != 0 || read < tiles);
    } else if constexpr (Kind == StepKind::MultiplyTile) {
      warp_mma.multiply_tile();
    } else if constexpr (Kind == StepKind::Advance) {
      ++read;
      warp_mma.advance(next(read_stage));
    }
  }

  // Returns the address of element `element` of an access in the stage being written.
  template <class Operand>
  static __device__ __forceinline__ typename Operand::Element* place(char* to, TileIterator<Operand> const& from, int access, int element) {
    using Tile = smem::SmemTile<Operand>;
    if constexpr (kWholeSteps<Operand>) return reinterpret_cast<typename Operand::Element*>(to) + Tile::at(from.mn_of(access, element), from.k_of(access, element));
    int const at = Tile::rest(Tile::here(from.mn), Tile::here(from.k), from.mn_of(access, element), from.k_of(access, element));
    return reinterpret_cast<typename Operand::Element*>(to) + at;
  }

 private:
  // Whether the accesses of a thread are whole periods of the swizzle apart, so that the swizzle
  // moves all of them alike. If some threads have one access fewer, the assembler would keep too
  // many addresses.
  template <class Operand, class From = TileIterator<Operand>, int Period = 1 << (Operand::kSwizzleShift + Operand::kSwizzleBits), int Span = 1 << (Operand::kSwizzleBase + Operand::kSwizzleBits)>
  static constexpr bool kWholeSteps = WarpMma::kSwizzlesOnce && Operand::kSwizzleBits > 0 && From::kStepStrided % Period == 0 && From::kStepContiguous % Span == 0 && Operand::kAccess <= 1 << Operand::kSwizzleBase && !From::Map::kIdle;

  // Returns the address of the thread's part of the first stage.
  template <class Operand>
  static __device__ __forceinline__ char* place(char* shared, TileIterator<Operand> const& from) {
    using Tile = smem::SmemTile<Operand>;
    return shared + Operand::kStageOffset + (kWholeSteps<Operand> ? Tile::at(from.mn, from.k) : Tile::base(from.mn, from.k)) * int(sizeof(typename Operand::Element));
  }

  // Advances to the next stage, and returns the distance to it in bytes.
  static __device__ __forceinline__ int next(int& stage) {
    bool const last = ++stage == Config::kStages;
    if (last) stage = 0;
    return last ? -(Config::kStages - 1) * Config::kStageBytes : Config::kStageBytes;
  }
};

}  // namespace threadblock
