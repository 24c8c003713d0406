// Twin of src/threadblock/single_stage.rs: one stage, through registers.
#pragma once
#include "threadblock/pipelined.cuh"

namespace threadblock {

// Uses the copies of the two-stage main loop. The schedule and the number of stages are values.
template <class Config, class WarpMma>
struct MmaSingleStage : ThroughRegisters<Config, WarpMma, MmaSingleStage<Config, WarpMma>> {
  using ThroughRegisters<Config, WarpMma, MmaSingleStage<Config, WarpMma>>::ThroughRegisters;
};

}  // namespace threadblock
