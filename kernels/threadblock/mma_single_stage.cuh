// Twin of src/threadblock/mma_single_stage.rs: one stage, through registers.
#pragma once
#include "threadblock/mma_pipelined.cuh"

namespace threadblock {

// The copies are those of two stages; the order of steps, and the number of stages, are values.
template <class Config>
struct MmaSingleStage : ThroughRegisters<Config, MmaSingleStage<Config>> {
  using ThroughRegisters<Config, MmaSingleStage<Config>>::ThroughRegisters;
};

}  // namespace threadblock
