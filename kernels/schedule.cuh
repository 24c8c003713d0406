// Twin of src/schedule/step.rs: the order of steps. Only this file and schedule/roles.cuh
// synchronize.
#pragma once

enum class StepKind { Fetch, Store, Copy, Commit, Wait, Barrier, Load, LoadA, Multiply, MultiplyLoad, MultiplyTile, Advance, StoreWarpSlice, ReduceWarpSlice, Write };

struct Step {
  StepKind kind;
  int first;
  int second;
};

namespace schedule {

// Waits until the previous grids have finished and their writes are visible (programmatic dependent
// launch). All threads wait before any of them accesses memory that others write. No kernel lets
// the next one start before it ends: waiting blocks would occupy the resources of working blocks.
// GPUs before Hopper start a grid after the previous one has finished.
__device__ __forceinline__ void wait_for_grids() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Waits for all threads of the block; their writes are visible then.
__device__ __forceinline__ void wait_for_block() { __syncthreads(); }

// Performs the steps of List from I on, with the numbers of each step as compile-time constants.
template <class List, int I = 0, class Block>
__device__ __forceinline__ void perform(Block& block) {
  if constexpr (I < List::kCount) {
    constexpr Step step = List::step(I);
    if constexpr (step.kind == StepKind::Barrier) {
      __syncthreads();
    } else if constexpr (step.kind == StepKind::Commit) {
      asm volatile("cp.async.commit_group;" ::: "memory");
      block.wrote();
    } else if constexpr (step.kind == StepKind::Wait) {
      asm volatile("cp.async.wait_group %0;" ::"n"(step.first) : "memory");
    } else {
      block.template step<step.kind, step.first, step.second>();
    }
    perform<List, I + 1>(block);
  }
}

// Returns the next number of a ticket. The writes that this thread has observed become visible to
// all later callers, and those of earlier callers to this thread. One fence of one thread suffices,
// because the block has barriers before and after it.
__device__ __forceinline__ unsigned draw(unsigned* ticket) {
  unsigned drawn;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], 1;" : "=r"(drawn) : "l"(ticket) : "memory");
  return drawn;
}

// Counts the block at a ticket after its writes are visible to all; returns whether it is the last
// of `blocks`. If so, it can read the writes of the others.
__device__ __forceinline__ bool arrives_last(unsigned* ticket, unsigned blocks) {
  __syncthreads();
  bool const last = threadIdx.x == 0 && draw(ticket) == blocks - 1;
  return __syncthreads_or(last);
}

}  // namespace schedule
