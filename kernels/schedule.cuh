// Twin of src/schedule/step.rs: the order of steps. This file and schedule/roles.cuh synchronize;
// no other does.
#pragma once

enum class StepKind { Fetch, Store, Copy, Commit, Wait, Barrier, Load, LoadA, Multiply, MultiplyLoad, MultiplyTile, Advance, StorePartials, ReducePartials, Write };

struct Step {
  StepKind kind;
  int first;
  int second;
};

namespace schedule {

// Waits until the grids before this one are done, and what they wrote is there (programmatic
// dependent launch): all threads do, before any touches memory that others write. No kernel has the
// next one begin sooner than where it ends: blocks that wait would hold what those that work need.
// Machines before Hopper begin a grid when the one before is done.
__device__ __forceinline__ void wait_for_grids() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Performs the steps of List from I on, each with its numbers known while compiling.
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

// Draws the next number of a ticket. What the thread knew to be written when it did is there for
// whoever draws a later one, and what those before it knew is there for the thread: one fence of
// one thread, since a barrier of its block stands before and behind.
__device__ __forceinline__ unsigned draw(unsigned* ticket) {
  unsigned drawn;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], 1;" : "=r"(drawn) : "l"(ticket) : "memory");
  return drawn;
}

// Counts the block at a ticket, once what it has written is there for all; whether it is the last
// of so many. What the others have written can be read then.
__device__ __forceinline__ bool arrives_last(unsigned* ticket, unsigned blocks) {
  __syncthreads();
  bool const last = threadIdx.x == 0 && draw(ticket) == blocks - 1;
  return __syncthreads_or(last);
}

}  // namespace schedule
