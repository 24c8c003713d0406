// Twin of src/threadblock/single_stage.rs: one stage, through registers.
#pragma once
#include "threadblock/mma.cuh"

namespace threadblock {

// Stages copies in registers. The schedule and the number of stages are values.
template <class Config, class WarpMma>
struct MmaSingleStage : ThroughRegisters<Config, WarpMma, MmaSingleStage<Config, WarpMma>> {
  using ThroughRegisters<Config, WarpMma, MmaSingleStage<Config, WarpMma>>::ThroughRegisters;
};

}  // namespace threadblock
