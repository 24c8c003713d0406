// Twin of src/threadblock/mma_single_stage.rs: one stage, through registers.
#pragma once
#include "threadblock/mma_pipelined.cuh"

namespace threadblock {

// The copies are those of two stages; the order of steps, and the number of stages, are values.
template <class Config, class WarpMma>
struct MmaSingleStage : ThroughRegisters<Config, WarpMma, MmaSingleStage<Config, WarpMma>> {
  using ThroughRegisters<Config, WarpMma, MmaSingleStage<Config, WarpMma>>::ThroughRegisters;
};

}  // namespace threadblock
