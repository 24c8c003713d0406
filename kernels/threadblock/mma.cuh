// Twin of src/threadblock/mma/mod.rs: kernels whose threads all follow one schedule. They compute
// D = epilogue(A·B, C), one tile of D per block, or under stream-K a span and then tiles.
#pragma once
#include "epilogue/tile_store.cuh"
#include "layout/index_map.cuh"
#include "schedule.cuh"
#include "threadblock/smem.cuh"
#include "threadblock/tile_iterator.cuh"
#include "threadblock/work.cuh"

namespace threadblock {

// Common part of all main loops: the walk over both operands, the ring of stages, and the WarpMma.
// Derived adds the copies.
template <class Config, class WarpMma, class Derived>
struct Mma {
  // The copies of the next unit overwrite stages that were read. The schedule has the barriers for
  // this with these kinds of work.
  static_assert(Config::kWork == WorkKind::DataParallel || Config::kWork == WorkKind::StreamK, "a block of such a kernel has one unit of work, or streams");

  static constexpr bool kStreams = Config::kWork == WorkKind::StreamK;
  static constexpr bool kGroupsK = Config::kRagged == Ragged::K;
  static_assert(!kGroupsK || Config::kGroupStep == 1, "copies of a group begin at its first k");
  // Maximum number of accesses per thread for which values derived from a leading dimension are
  // recomputed in each unit. With more accesses, the compiler would keep each value.
  static constexpr int kFew = 8;

  using Warp = WarpMma;
  using IteratorA = IteratorOf<Config, typename Config::A, 0>;
  using IteratorB = IteratorOf<Config, typename Config::B, 1>;

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

  // Computes the block's share of D.
  template <class Params>
  static __device__ __forceinline__ void compute(Params const& params) {
    extern __shared__ __align__(16) char shared_memory[];
    schedule::wait_for_grids();
    int thread = threadIdx.x;
    Work<Config> work(params);
    Unit<Config> unit{};
    if (!work.first(params, unit)) return;
    do {
      // Values that depend only on the thread are not kept from unit to unit.
      if constexpr (kStreams) {
        thread = index::thread_again();
        index::forget(unit.count);
      }
      int const row = unit.row(), column = unit.column();
      decltype(auto) pitch = pitches_read<kStreams && ThreadMap<typename Config::A>::kAccesses <= kFew, kStreams && ThreadMap<typename Config::B>::kAccesses <= kFew>(params);
      Derived mainloop(
          shared_memory,
          IteratorA(params, matrix<typename Config::A, 0>(params, unit, params.a, params.stride_a), pitch.lda, row, unit.rows(params), depth(params, unit), thread),
          IteratorB(params, matrix<typename Config::B, 1>(params, unit, params.b, params.stride_b), pitch.ldb, column, unit.columns(params), depth(params, unit), thread),
          thread, unit.k_count(params));
      if constexpr (Config::kSplitK) mainloop.skip(unit.k_begin(params));
      if constexpr (kGroupsK) {
        mainloop.a.start_at(unit.first);
        mainloop.b.start_at(unit.first);
      }
      mainloop.run();
      if constexpr (kStreams || WarpMma::kFull) {
        if constexpr (Config::kSplitK) work.recall(params, unit);
        thread = index::thread_again();
        WarpMma const place(shared_memory, thread);
        mainloop.warp_mma.mn_a = place.mn_a, mainloop.warp_mma.mn_b = place.mn_b;
      }
      epilogue::TileStore<Config, WarpMma> store{mainloop.warp_mma, reinterpret_cast<typename Config::Accumulator*>(shared_memory), thread};
      store.store(params, unit);
    } while (work.take(params, unit));
  }

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
  // Extent along K of the unit's GEMM.
  template <class Params>
  static __device__ __forceinline__ int depth(Params const& params, Unit<Config> const& unit) {
    if constexpr (kGroupsK) return int(unit.limit - unit.first);
    else return params.k;
  }

  template <class Operand, int Number, class Params>
  static __device__ __forceinline__ typename Operand::Element const* matrix(Params const& params, Unit<Config> const& unit, unsigned long long address, long long stride) {
    return matrix_of_product<Config, Number, typename Operand::Element const>(params, unit.product, address, stride);
  }

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

// Copies that stage a tile in registers before they store it to shared memory.
template <class Config, class WarpMma, class Derived>
struct ThroughRegisters : Mma<Config, WarpMma, Derived> {
  using Base = Mma<Config, WarpMma, Derived>;
  using Base::Base;

  template <class Operand>
  struct Staging {
    using Access = Packed<Operand::kAccess * int(sizeof(typename Operand::Element))>;
    Access access[ThreadMap<Operand>::kAccesses];
  };
  Staging<typename Config::A> staging_a;
  Staging<typename Config::B> staging_b;

  template <StepKind Kind, int First, int Second>
  __device__ __forceinline__ void step() {
    if constexpr (Kind == StepKind::Fetch) {
      if (this->writes()) {
        fetch(this->a, staging_a);
        fetch(this->b, staging_b);
      }
    } else if constexpr (Kind == StepKind::Store) {
      if (this->writes()) {
        store(this->to_a, this->a, staging_a);
        store(this->to_b, this->b, staging_b);
      }
      this->wrote();
    } else {
      Base::template step<Kind, First, Second>();
    }
  }

 private:
  template <class Iterator, class Operand>
  __device__ __forceinline__ void fetch(Iterator const& from, Staging<Operand>& staging) {
    using Access = typename Staging<Operand>::Access;
#pragma unroll
    for (int i = 0; i < ThreadMap<Operand>::kAccesses; ++i) {
      staging.access[i] = Access{};
      if (from.active(i) && from.exists(i)) staging.access[i] = *reinterpret_cast<Access const*>(from.address(i));
    }
  }

  // Stores vectors that are contiguous in shared memory in one access, and others element by
  // element.
  template <class Operand>
  __device__ __forceinline__ void store(char* to, TileIterator<Operand> const& from, Staging<Operand> const& staging) {
    constexpr int width = Operand::kSharedAccess, bytes = sizeof(typename Operand::Element);
#pragma unroll
    for (int i = 0; i < ThreadMap<Operand>::kAccesses; ++i) {
      if (!from.active(i)) continue;
#pragma unroll
      for (int j = 0; j < Operand::kAccess; j += width)
        *reinterpret_cast<Packed<width * bytes>*>(Base::place(to, from, i, j)) = piece_of<width * bytes>(staging.access[i], j * bytes);
    }
  }
};

}  // namespace threadblock
