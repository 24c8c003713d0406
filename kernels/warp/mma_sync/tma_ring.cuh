// Twin of src/warp/mma_sync/tma_ring/mod.rs: consumers with mma.sync, in which each warp
// multiplies and stores its own tile.
#pragma once
#include "epilogue/tile_store.cuh"
#include "threadblock/tma_ring.cuh"
#include "warp/mma_sync.cuh"

namespace threadblock {

template <class Config, class Params>
struct MmaSyncConsumer : Worker<Config, Params> {
  using A = typename Config::A;
  using B = typename Config::B;
  using Mma = warp::MmaTensorOp<Config>;
  static constexpr int kGroups = Config::kWarpK / Config::kStep;
  static_assert(kGroups % 2 == 0, "the first fragments of a stage do not overwrite the last of the stage before it");

  Mma warp_mma;
  // The thread's part of both operands at the beginning of the ring.
  char const* const first_a;
  char const* const first_b;

  __device__ __forceinline__ MmaSyncConsumer(Params const& params, unsigned shared, unsigned consumer, unsigned thread)
      : Worker<Config, Params>(params, shared, consumer, thread),
        warp_mma(static_cast<char const*>(__cvta_shared_to_generic(shared)), (Config::Ring::kTurns > 0 ? 0 : consumer * Config::Ring::kWarpgroup) + thread),
        first_a(warp_mma.from_a),
        first_b(warp_mma.from_b) {
    // The compiler would share this number with the producer, which has few registers, and keep it
    // in memory. The consumer therefore reads it again.
    if constexpr (!Work<Config>::kStreams) {
      asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(this->work.next));
      this->work.next /= Work<Config>::kBlocks;
    }
    if constexpr (Config::Ring::kTurns > 0) this->work.every(consumer, Config::Ring::kTurns);
  }

  __device__ __forceinline__ bool next_tile() {
    if (!this->work.take(this->params, this->unit)) return false;
#pragma unroll
    for (int i = 0; i < Mma::kAccumulators; ++i) warp_mma.accumulators[i] = 0;
    return true;
  }

  template <RoleStepKind Kind, int, int>
  __device__ __forceinline__ void step() {
    if constexpr (Kind == RoleStepKind::ClearOutside) {
      this->template clear_outside<smem::BoxedTile<A>, smem::BoxedTile<B>>();
    } else if constexpr (Kind == RoleStepKind::LoadFirst) {
      if (this->k < this->k_tiles()) {
        warp_mma.from_a = first_a + (this->stage_a() - this->shared);
        warp_mma.from_b = first_b + (this->stage_b() - this->shared);
        warp_mma.template load<0>();
      }
    } else if constexpr (Kind == RoleStepKind::MultiplyStage) {
      multiply();
    } else if constexpr (Kind == RoleStepKind::MultiplyLast) {
      warp_mma.template multiply<kGroups - 1>();
    } else if constexpr (Kind == RoleStepKind::ReduceSlices) {
      this->reduce_slices(warp_mma);
    } else {
      static_assert(Kind == RoleStepKind::StoreThreads, "a consumer has no such step");
      // The compiler would keep the place in memory while the warp multiplies, so it is computed
      // again.
      int at;
      asm volatile("mov.u32 %0, %%tid.x;" : "=r"(at));
      at -= Config::Ring::kWarpgroup * (Config::Ring::kTurns > 0 ? 1 + this->consumer : 1);
      warp_mma.mn_a = Mma::row_of(at);
      warp_mma.mn_b = Mma::column_of(at);
      epilogue::TileStore<Config, Mma>::write(warp_mma, this->params, this->params.d, this->unit);
    }
  }

  // Returns a zero that depends on the last k-block's loads.
  __device__ __forceinline__ unsigned once_loaded() const {
    constexpr int last = (kGroups - 1) % 2;
    unsigned loaded = 0;
#pragma unroll
    for (int i = 0; i < Mma::ReadsA::Fragment::kWords; ++i) loaded |= bits_of(warp_mma.a[last][i / A::kInstructionWords][i % A::kInstructionWords]);
#pragma unroll
    for (int i = 0; i < Mma::ReadsB::Fragment::kWords; ++i) loaded |= bits_of(warp_mma.b[last][i / B::kInstructionWords][i % B::kInstructionWords]);
    return this->zero_after(loaded);
  }

 private:
  static __device__ __forceinline__ unsigned bits_of(double word) { return static_cast<unsigned>(__double2loint(word)); }

  // Multiplies all k-blocks from Group on except the last. While one is multiplied, the next is
  // loaded.
  template <int Group = 0>
  __device__ __forceinline__ void multiply() {
    if constexpr (Group + 1 < kGroups) {
      warp_mma.template load<Group + 1>();
      warp_mma.template multiply<Group>();
      multiply<Group + 1>();
    }
  }
};

}  // namespace threadblock
