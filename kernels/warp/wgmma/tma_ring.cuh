// Twin of src/warp/wgmma/tma_ring/mod.rs: a consumer on tensor cores, a warpgroup that
// multiplies its part of the block's tile and stores it.
#pragma once
#include "epilogue/tensor_store.cuh"
#include "threadblock/tma_ring.cuh"
#include "warp/wgmma/registers.cuh"

namespace threadblock {

// Tile of A in a stage: descriptors address it, or threads load it to registers.
template <class Config, bool FromRegisters>
struct StageOfA {
  using Tile = warp::OperandTile<typename Config::Mma::A>;
};
template <class Config>
struct StageOfA<Config, true> {
  using Tile = typename Config::FragmentLoad::Tile;
};

template <class Config, class Params>
struct WgmmaConsumer : Worker<Config, Params> {
  using Mma = typename Config::Mma;
  using Store = epilogue::TensorStore<Config, Params>;
  // Whether A comes from registers, and the number of its fragment sets. If A comes from shared
  // memory, the single set is unused.
  static constexpr bool kFromRegisters = Config::kFragmentSets > 0;
  static constexpr int kFragmentSets = kFromRegisters ? Config::kFragmentSets : 1;

  typename Store::Accumulators accumulators;
  // Partial accumulators if stages are promoted: the tile of one instruction.
  typename Mma::Accumulator partial[Mma::kRegisters];
  // Fragments of A for a stage if A comes from registers. One set is loaded while products read the
  // other.
  unsigned fragments[kFragmentSets][Config::kRepeatsM][kFromRegisters ? Mma::kFragmentRegisters : 1];
  typename Config::Fragments loader;
  Store store;

  __device__ __forceinline__ WgmmaConsumer(Params const& params, unsigned shared, unsigned consumer, unsigned thread)
      : Worker<Config, Params>(params, shared, consumer, thread), loader(thread, consumer_row()), store(params, thread, this->vectors()) {
    if constexpr (Config::Ring::kTurns > 0) this->work.every(consumer, Config::Ring::kTurns);
  }

  __device__ __forceinline__ void pin() {
    if constexpr (Config::kPromotes) {
      warp::keep(partial);
    } else {
#pragma unroll
      for (int m = 0; m < Config::kRepeatsM; ++m)
#pragma unroll
        for (int n = 0; n < Config::kRepeatsN; ++n) warp::keep(accumulators[m][n]);
    }
  }

  __device__ __forceinline__ bool reads_source() const { return this->params.reads_source; }

  __device__ __forceinline__ bool next_tile() {
    if (!this->work.take(this->params, this->unit)) return false;
    store.row = this->unit.row() + consumer_row();
    store.column = this->unit.column() + consumer_column() / (Config::kGated ? 2 : 1);
    store.product = this->unit.product;
    store.positions.load(this->params, this->unit.product);
    store.group = this->unit;
    // If no product overwrites the accumulators of the previous tile, they must be cleared.
    if (Config::kPromotes || this->k_tiles() == 0) store.clear(accumulators);
    return true;
  }

  template <RoleStepKind Kind, int First, int FragmentSet>
  __device__ __forceinline__ void step() {
    if constexpr (Kind == RoleStepKind::ClearOutside) {
      this->template clear_outside<typename StageOfA<Config, kFromRegisters>::Tile, warp::OperandTile<typename Mma::B>>();
    } else if constexpr (Kind == RoleStepKind::LoadFragments) {
      loader.load(fragments[FragmentSet], this->stage_a());
    } else if constexpr (Kind == RoleStepKind::MultiplyStage && kFromRegisters) {
      multiply_fragments(fragments[FragmentSet]);
    } else if constexpr (Kind == RoleStepKind::MultiplyStage) {
      multiply();
    } else if constexpr (Kind == RoleStepKind::MultiplyInstructionTile) {
      multiply(partial, operands(), First % Config::kRepeatsM, First / Config::kRepeatsM, false);
    } else if constexpr (Kind == RoleStepKind::Promote) {
      promote<First>();
    } else if constexpr (Kind == RoleStepKind::FetchSource) {
      if (this->leads() && reads_source()) store.template fetch<First>(this->staging(First), this->source());
    } else if constexpr (Kind == RoleStepKind::ReduceSlices) {
      this->holds_sum = reduce();
    } else if constexpr (Kind == RoleStepKind::SendPartials || Kind == RoleStepKind::AddPartials) {
      exchange<Kind>();
    } else if constexpr (Kind == RoleStepKind::StageVectors) {
      store.stage_vectors();
    } else if constexpr (Kind == RoleStepKind::StoreStaging) {
      store.template store_staging<First>(accumulators, this->staging(First));
    } else {
      static_assert(Kind == RoleStepKind::StoreTensor, "a consumer has no such step");
      // TMA may overwrite the staging buffer only after the threads have read it.
      if (!store.template write<First>(this->staging(First)) && Config::kByTma) {
        schedule::roles::synchronize<RoleStepKind::FenceProxy, 0>(*this);
        schedule::roles::synchronize<RoleStepKind::Meet, 0>(*this);
      }
    }
  }

 private:
  // First row and column of the warpgroup's part of the block's tile.
  __device__ __forceinline__ unsigned consumer_row() const { return Store::consumer_row(this->consumer); }
  __device__ __forceinline__ unsigned consumer_column() const { return Store::consumer_column(this->consumer); }

  // Reduces split-K slices through the workspace; returns whether this consumer holds the sum.
  __device__ __forceinline__ bool reduce() {
    constexpr int each = Mma::kM * Mma::kN / warp::kWarpgroup, across = Config::kRepeatsN;
    using Partials = epilogue::Partials<Config>;
    auto const get = [&](int i) { return convert<typename Partials::Sum>(Store::accumulator(accumulators[i / each / across][i / each % across], i % each)); };
    auto const set = [&](int i, typename Partials::Sum sum) { Store::set(accumulators[i / each / across][i / each % across], i % each, sum); };
    return Partials::reduce(this->params, this->unit, this->consumer, this->thread, get, set);
  }

  // Exchanges split-K slices between the blocks of a cluster.
  template <RoleStepKind Kind>
  __device__ __forceinline__ void exchange() {
    constexpr int each = Mma::kM * Mma::kN / warp::kWarpgroup, across = Config::kRepeatsN;
    using Sum = typename epilogue::Partials<Config>::Sum;
    auto const get = [&](int i) { return convert<Sum>(Store::accumulator(accumulators[i / each / across][i / each % across], i % each)); };
    auto const set = [&](int i, Sum sum) { Store::set(accumulators[i / each / across][i / each % across], i % each, sum); };
    this->template exchange_partials<Kind>(get, set);
  }

  // Multiplies a whole stage into the accumulators.
  __device__ __forceinline__ void multiply() {
    Operands const from = operands();
#pragma unroll
    for (int n = 0; n < Config::kRepeatsN; ++n)
#pragma unroll
      for (int m = 0; m < Config::kRepeatsM; ++m) multiply(accumulators[m][n], from, m, n, this->k != 0);
  }

  // Multiplies a whole stage with A in registers.
  template <class Set>
  __device__ __forceinline__ void multiply_fragments(Set const& a) {
    unsigned long long const b = operand_b();
#pragma unroll
    for (int n = 0; n < Config::kRepeatsN; ++n)
#pragma unroll
      for (int m = 0; m < Config::kRepeatsM; ++m)
        Mma::multiply(accumulators[m][n], a[m], warp::further<typename Mma::B>(b, n * Mma::kN), this->k != 0);
  }

  // Descriptors of the consumer's rows and columns of a stage.
  struct Operands {
    unsigned long long a, b;
  };

  __device__ __forceinline__ Operands operands() const {
    // Broadcast from one lane, so that the compiler knows that the value is warp-uniform.
    unsigned const at_a = __shfl_sync(0xffffffffu, this->stage_a() + consumer_row() * Config::kStageRow, 0);
    return {warp::descriptor<typename Mma::A>(at_a), operand_b()};
  }

  __device__ __forceinline__ unsigned long long operand_b() const {
    unsigned const at_b = __shfl_sync(0xffffffffu, this->stage_b() + consumer_column() * Config::kStageRow, 0);
    return warp::descriptor<typename Mma::B>(at_b);
  }

  // Multiplies the tile of one instruction.
  static __device__ __forceinline__ void multiply(typename Mma::Accumulator (&to)[Mma::kRegisters], Operands const& from, int m, int n, bool add) {
    Mma::multiply(to, warp::further<typename Mma::A>(from.a, m * Mma::kM), warp::further<typename Mma::B>(from.b, n * Mma::kN), add);
  }

  template <int First>
  __device__ __forceinline__ void promote() {
#pragma unroll
    for (int i = 0; i < Mma::kRegisters; ++i) accumulators[First % Config::kRepeatsM][First / Config::kRepeatsM][i] += partial[i];
  }
};

}  // namespace threadblock
