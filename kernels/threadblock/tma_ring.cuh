// Twin of src/threadblock/tma_ring: the producer's steps, and the roles of a block.
#pragma once
#include "epilogue/partials.cuh"
#include "numeric/emulation.cuh"
#include "schedule/roles.cuh"
#include "threadblock/records.cuh"
#include "threadblock/tensor_copy.cuh"
#include "threadblock/tma_ring/gathered_lines.cuh"
#include "threadblock/tma_ring/pipeline.cuh"
#include "threadblock/work.cuh"

namespace threadblock {

// Whether a consumer holds the sum of all split-K slices and therefore runs the epilogue.
template <bool SplitK>
struct SliceSum {
  bool holds_sum = true;
  __device__ __forceinline__ bool stores() const { return holds_sum; }
};
template <>
struct SliceSum<false> {
  __device__ __forceinline__ bool stores() const { return true; }
};

// State that both roles share.
template <class Config, class Params>
struct Worker : schedule::roles::State<typename Config::Ring>, SliceSum<Config::kSplitK> {
  using State = schedule::roles::State<typename Config::Ring>;

  Params const& params;
  Work<Config> work;
  // Current work unit.
  Unit<Config> unit{};

  __device__ __forceinline__ Worker(Params const& params, unsigned shared, unsigned consumer, unsigned thread)
      : State(shared, consumer, thread), params(params), work(params) {}

  __device__ __forceinline__ bool has_next() const { return work.has_next(); }
  __device__ __forceinline__ unsigned rank() const { return work.rank; }
  __device__ __forceinline__ unsigned k_tiles() const { return unit.k_count(params); }
  __device__ __forceinline__ unsigned k_tiles_before(unsigned units) const { return k_tiles_beside(units, -1); }
  __device__ __forceinline__ unsigned k_tiles_behind(unsigned units) const { return k_tiles_beside(units, 1); }

  // Returns whether the current k-tile has elements outside the group's K.
  __device__ __forceinline__ bool has_outside() const {
    if (this->k >= k_tiles()) return false;
    return unit.inside_from(this->k) > 0 || unit.inside_to(this->k) < Config::kTileK;
  }

  // Writes zeros to this thread's part of the elements outside the group's K, in both operands.
  // TileA and TileB map (mn, k) of a stage to an offset in elements.
  template <class TileA, class TileB>
  __device__ __forceinline__ void clear_outside() const {
    if (!has_outside()) return;
    clear_outside<typename Config::A, TileA>(this->stage_a());
    clear_outside<typename Config::B, TileB>(this->stage_b());
  }

  // Reduces the split-K slices of a consumer whose threads hold the accumulators of warp_mma.
  template <class Mma>
  __device__ __forceinline__ void reduce_slices(Mma& warp_mma) {
    using Partials = epilogue::Partials<Config>;
    auto const get = [&](int i) { return convert<typename Partials::Sum>(warp_mma.accumulator(i)); };
    auto const set = [&](int i, typename Partials::Sum sum) { warp_mma.set(i, convert<typename Config::Accumulator>(sum)); };
    this->holds_sum = Partials::reduce(params, unit, this->consumer, this->thread, get, set);
  }

  // Returns a zero that depends on loaded bits. Loads from shared memory and an arrival at a
  // barrier may be reordered if stores of other blocks to this shared memory delay the loads. The
  // arrival's address therefore depends on the loaded values.
  static __device__ __forceinline__ unsigned zero_after(unsigned loaded) {
    unsigned none;
    // The grid has one layer along z, which the compiler does not know.
    asm("mov.u32 %0, %%ctaid.z;" : "=r"(none));
    return loaded & none;
  }

  // Performs the consumer's steps that exchange split-K slices within a cluster.
  template <RoleStepKind Kind, class Get, class Set>
  __device__ __forceinline__ void exchange_partials(Get get, Set set) {
    using Ring = typename Config::Ring;
    using Partials = epilogue::Partials<Config>;
    static_assert(Ring::kSlotBytes == Partials::kSlot * sizeof(typename Partials::Sum), "a slot holds a consumer's accumulators");
    if constexpr (Kind == RoleStepKind::SendPartials) {
      this->holds_sum = rank() == 0;
      if (rank() > 0) Partials::send(this->shared + Ring::slot(this->consumer, rank() - 1), this->landed(), this->thread, get);
    } else if (rank() == 0) {
      Partials::template gather<Ring::kSenders>(this->shared + Ring::slot(this->consumer, 0), this->thread, get, set);
    }
  }

 private:
  template <class Operand, class Tile>
  __device__ __forceinline__ void clear_outside(unsigned stage) const {
    constexpr unsigned bytes = Config::kStageRow / Config::kTileK, chunk = 16 / bytes, extent = Operand::kShares * Operand::kShareMn;
    using Ring = typename Config::Ring;
    constexpr unsigned threads = Ring::kWarpgroup * (Ring::kTurns > 0 ? 1 : Ring::kConsumers);
    unsigned const from = unit.inside_from(this->k), to = unit.inside_to(this->k);
    // Chunks of 16 bytes along K, or single k: `before` of them begin before the group, and those
    // from `behind` on end behind it.
    constexpr unsigned along = Operand::kAlongK ? chunk : 1, across = Operand::kAlongK ? extent : extent / chunk;
    unsigned const before = (from + along - 1) / along, last = to / along, behind = last < before ? before : last;
    unsigned const count = (before + Config::kTileK / along - behind) * across;
#pragma unroll 1
    for (unsigned i = (Ring::kTurns > 0 ? 0 : this->consumer * Ring::kWarpgroup) + this->thread; i < count; i += threads) {
      unsigned const which = i / across, k = (which < before ? which : which - before + behind) * along;
      unsigned const mn = i % across * (Operand::kAlongK ? 1 : chunk), address = stage + Tile::at(mn, k) * bytes;
      if (k >= to || k + along <= from) {
        asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(address), "r"(0) : "memory");
      } else {
        for (unsigned j = 0; j < chunk; ++j)
          if (k + j < from || k + j >= to) clear_element<bytes>(address + j * bytes);
      }
    }
  }

  template <unsigned Bytes>
  static __device__ __forceinline__ void clear_element(unsigned address) {
    if constexpr (Bytes == 1) asm volatile("st.shared.b8 [%0], %1;" ::"r"(address), "r"(0) : "memory");
    else if constexpr (Bytes == 2) asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"((unsigned short)0) : "memory");
    else if constexpr (Bytes == 4) asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(0) : "memory");
    else asm volatile("st.shared.b64 [%0], %1;" ::"r"(address), "l"(0ll) : "memory");
  }

  // Returns the k-tiles of the next (`side` = 1) or previous (`side` = -1) `units` units.
  __device__ __forceinline__ unsigned k_tiles_beside(unsigned units, int side) const {
    if constexpr (!Config::kSplitK && !Work<Config>::kGroupsK) return units * k_tiles();
    unsigned tiles = 0;
    if constexpr (Work<Config>::kGroupsK) {
      // There are few other consumers. Unrolled, the loop would fill the instruction cache.
#pragma unroll 1
      for (unsigned i = 1; i <= units; ++i) tiles += work.k_count_beside(params, side * int(i), Config::Ring::kTurns);
    } else {
      for (unsigned i = 1; i <= units; ++i) tiles += work.k_count_beside(params, side * int(i), Config::Ring::kTurns);
    }
    return tiles;
  }
};

// Producer. A single thread issues the copies of TMA. If an index list selects the lines of an
// operand, all threads copy the lines.
template <class Config, class Params>
struct Producer : Worker<Config, Params> {
  using Worker<Config, Params>::Worker;

  Positions<Config::kPositions, 0> positions;
  typename LinesOf<Config, typename Config::A, 0, Config::Ring::kGatheredA>::Type lines_a;
  typename LinesOf<Config, typename Config::B, 1, Config::Ring::kGatheredB>::Type lines_b;

  __device__ __forceinline__ bool goes_on() const { return Config::Ring::kGathers || this->leads(); }

  __device__ __forceinline__ bool next_tile() {
    if (!this->work.take(this->params, this->unit)) return false;
    positions.load(this->params, this->unit.product);
    lines_a.load(this->params, this->unit.product, this->unit.row(), this->unit.rows(this->params), this->thread);
    lines_b.load(this->params, this->unit.product, this->unit.column(), this->unit.columns(this->params), this->thread);
    return true;
  }

  template <RoleStepKind Kind, int Operand, int>
  __device__ __forceinline__ void step() {
    if constexpr (Kind == RoleStepKind::GatherLines) {
      if constexpr (Operand == 0) lines_a.copy(this->params, this->stage_a(), this->template first_k<0>(), this->thread);
      else lines_b.copy(this->params, this->stage_b(), this->template first_k<1>(), this->thread);
    } else {
      static_assert(Kind == RoleStepKind::CopyTensor, "a producer has no such step");
      if (Config::Ring::kGathers && !this->leads()) return;
      if constexpr (Operand == 0) {
        copy<typename Config::A, 0>(this->params.map_a, this->unit.row(), this->stage_a());
      } else {
        if constexpr (Config::kGated) copy_gates(this->params.map_b, this->unit.column(), this->stage_b());
        else copy<typename Config::B, 1>(this->params.map_b, this->unit.column(), this->stage_b());
      }
    }
  }

 private:
  // Returns the first k of the current k-tile in an operand.
  template <int Number>
  __device__ __forceinline__ int first_k() const {
    if constexpr (Work<Config>::kGroupsK) return this->unit.begin() + this->k * Config::kTileK;
    else return numeric::block_of<typename Config::Emulation, Number>(this->unit.k_begin(this->params) + this->k, this->params.term_blocks) * Config::kTileK;
  }

  // Copies this block's share of an operand's tile to all blocks that share it.
  template <class Operand, int Number>
  __device__ __forceinline__ void copy(TensorMap const& map, int origin, unsigned stage) {
    unsigned const first = Operand::kShares > 1 ? this->work.rank * Operand::kShareMn : 0;
    int const k = this->template first_k<Number>();
#pragma unroll
    for (unsigned i = 0; i < Operand::kCopies; ++i) {
      unsigned const mn = first + i * Operand::kBoxMn, to = stage + mn * Config::kStageRow;
      int const at = origin + int(mn);
      auto const corner = box_corner<Config, Number>(this->params, this->unit.product, positions, Operand::kAlongK ? k : at, Operand::kAlongK ? at : k);
      copy_box<Operand>(to, map, corner);
    }
  }

  template <class Operand, int Rank>
  __device__ __forceinline__ void copy_box(unsigned to, TensorMap const& map, Corner<Rank> const& corner) {
    if constexpr (Operand::kShares > 1) {
      load_multicast(to, map, corner, this->full(), (unsigned short)((1u << Operand::kShares) - 1));
    } else {
      load(to, map, corner, this->full());
    }
  }

  // Copies this block's share of the two matrices of B that a gate combines. `origin` is the first
  // column of D. The tensor has the matrix at the lower address first.
  __device__ __forceinline__ void copy_gates(TensorMap const& map, int origin, unsigned stage) {
    using B = typename Config::B;
    using Map = GateMap<Config::kGateWarp, Config::kTileN>;
    unsigned const first = B::kShares > 1 ? this->work.rank * B::kShareMn : 0;
    int const k = this->template first_k<1>(), descends = this->params.gate_stride < 0;
#pragma unroll
    for (unsigned i = 0; i < B::kCopies; ++i) {
      unsigned const column = first + i * B::kBoxMn;
      int const matrix = Map::matrix(column) ^ descends;
      copy_box<B>(stage + column * Config::kStageRow, map, gate_corner<Config, B::kAlongK>(this->params, this->unit.product, positions, origin + Map::column_of_d(column), k, matrix));
    }
  }
};

// Warp-specialized kernel, tile after tile: D = epilogue(A·B, C). Consumer<Config, Params>
// multiplies and stores.
template <class Config, template <class, class> class Consumer>
struct TmaRing {
  // Computes the block's share of D.
  template <class Params>
  static __device__ __forceinline__ void compute(Params const& params) {
    extern __shared__ __align__(1024) char shared_memory[];
    unsigned const shared = static_cast<unsigned>(__cvta_generic_to_shared(shared_memory));
    unsigned const group = __shfl_sync(0xffffffffu, threadIdx.x / Config::Ring::kWarpgroup, 0), thread = threadIdx.x % Config::Ring::kWarpgroup;
    // The swizzle depends on addresses, so a window with another alignment would be read as a
    // different matrix.
    if (shared % 1024 != 0) __trap();
    if (threadIdx.x == 0) {
      if constexpr (!Config::Ring::kGatheredA) prefetch(params.map_a);
      if constexpr (!Config::Ring::kGatheredB) prefetch(params.map_b);
    }
    schedule::roles::State<typename Config::Ring> setup(shared, 0, thread);
    schedule::roles::perform<typename Config::Roles::Setup::Opening>(setup);
    schedule::wait_for_grids();
    if (group == 0) {
      Producer<Config, Params> producer(params, shared, 0, thread);
      schedule::roles::run<typename Config::Roles::Producer>(producer);
    } else {
      // A single consumer has the compile-time index 0, so that the compiler need not keep the
      // index.
      Consumer<Config, Params> consumer(params, shared, Config::Ring::kConsumers == 1 ? 0 : group - 1, thread);
      schedule::roles::run<typename Config::Roles::Consumer>(consumer);
    }
  }
};

}  // namespace threadblock
