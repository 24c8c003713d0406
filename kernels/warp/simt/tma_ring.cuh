// Twin of src/warp/simt/tma_ring/mod.rs: consumers on CUDA cores, in which each thread
// multiplies and stores its own tile.
#pragma once
#include "epilogue/tile_store.cuh"
#include "threadblock/tma_ring.cuh"
#include "warp/simt.cuh"

namespace threadblock {

template <class Config, class Params>
struct SimtConsumer : Worker<Config, Params> {
  using A = typename Config::A;
  using B = typename Config::B;

  warp::MmaSimt<Config> warp_mma;
  // Offset of the thread's part in a stage, in bytes.
  unsigned const offset_a, offset_b;
  // Shared-memory addresses of the thread's part of both operands, in the stage being read.
  unsigned from_a, from_b;
  __device__ __forceinline__ SimtConsumer(Params const& params, unsigned shared, unsigned consumer, unsigned thread)
      : Worker<Config, Params>(params, shared, consumer, thread),
        warp_mma((Config::Ring::kTurns > 0 ? 0 : consumer * Config::Ring::kWarpgroup) + thread),
        offset_a(smem::BoxedTile<A>::at(warp_mma.mn_a, 0) * sizeof(typename A::Element)),
        offset_b(smem::BoxedTile<B>::at(warp_mma.mn_b, 0) * sizeof(typename B::Element)) {
    if constexpr (Config::Ring::kTurns > 0) this->work.every(consumer, Config::Ring::kTurns);
  }

  __device__ __forceinline__ bool next_tile() {
    if (!this->work.take(this->params, this->unit)) return false;
#pragma unroll
    for (int i = 0; i < warp_mma.kAccumulators; ++i) warp_mma.accumulators[i] = 0;
    return true;
  }

  template <RoleStepKind Kind, int, int>
  __device__ __forceinline__ void step() {
    if constexpr (Kind == RoleStepKind::ClearOutside) {
      this->template clear_outside<smem::BoxedTile<A>, smem::BoxedTile<B>>();
    } else if constexpr (Kind == RoleStepKind::LoadFirst) {
      if (this->k < this->k_tiles()) {
        from_a = this->stage_a() + offset_a;
        from_b = this->stage_b() + offset_b;
        warp_mma.template load_in_order<0>(from_a, from_b);
      }
    } else if constexpr (Kind == RoleStepKind::MultiplyStage) {
      multiply();
    } else if constexpr (Kind == RoleStepKind::MultiplyLast) {
      warp_mma.template multiply<Config::kWarpK - 1>();
    } else if constexpr (Kind == RoleStepKind::ReduceSlices) {
      this->reduce_slices(warp_mma);
    } else if constexpr (Kind == RoleStepKind::SendPartials || Kind == RoleStepKind::AddPartials) {
      using Sum = typename epilogue::Partials<Config>::Sum;
      auto const get = [&](int i) { return convert<Sum>(warp_mma.accumulator(i)); };
      auto const set = [&](int i, Sum sum) { warp_mma.set(i, convert<typename Config::Accumulator>(sum)); };
      this->template exchange_partials<Kind>(get, set);
    } else {
      static_assert(Kind == RoleStepKind::StoreThreads, "a consumer has no such step");
      epilogue::TileStore<Config, warp::MmaSimt<Config>>::write(warp_mma, this->params, this->params.d, this->unit);
    }
  }

  // Returns a zero that depends on the last k-block's loads.
  __device__ __forceinline__ unsigned once_loaded() const {
    constexpr int last = (Config::kWarpK - 1) % 2, vector = 4;
    unsigned loaded = 0;
#pragma unroll
    for (int i = 0; i < A::kThreadMn; i += vector) loaded |= __float_as_uint(warp_mma.a[last][i]);
#pragma unroll
    for (int i = 0; i < B::kThreadMn; i += vector) loaded |= __float_as_uint(warp_mma.b[last][i]);
    return this->zero_after(loaded);
  }

 private:
  // Multiplies all k-blocks from Group on except the last. While one is multiplied, the next is
  // loaded.
  template <int Group = 0>
  __device__ __forceinline__ void multiply() {
    if constexpr (Group + 1 < Config::kWarpK) {
      warp_mma.template load_in_order<Group + 1>(from_a, from_b);
      warp_mma.template multiply<Group>();
      multiply<Group + 1>();
    }
  }
};

}  // namespace threadblock
