// Twin of src/schedule/step.rs: the order of steps. This file and schedule/roles.cuh synchronize; no other does.
#pragma once

enum class StepKind { Fetch, Store, Copy, Commit, Wait, Barrier, Load, LoadA, Multiply, MultiplyLoad, MultiplyTile, Advance, StorePartials, ReducePartials, Write };

struct Step {
  StepKind kind;
  int first;
  int second;
};

namespace schedule {

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

// Counts the block at a ticket, once what it has written is there for all; whether it is the last of so many. What the others have written can be read then.
__device__ __forceinline__ bool arrives_last(unsigned* ticket, unsigned blocks) {
  __threadfence();
  __syncthreads();
  bool const last = threadIdx.x == 0 && atomicAdd(ticket, 1u) == blocks - 1;
  if (!__syncthreads_or(last)) return false;
  __threadfence();
  return true;
}

}  // namespace schedule
