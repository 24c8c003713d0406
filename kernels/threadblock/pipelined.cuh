// Twin of src/threadblock/pipelined.rs: two stages, through registers.
#pragma once
#include "threadblock/mma.cuh"

namespace threadblock {

template <class Config, class WarpMma>
struct MmaPipelined : ThroughRegisters<Config, WarpMma, MmaPipelined<Config, WarpMma>> {
  using ThroughRegisters<Config, WarpMma, MmaPipelined<Config, WarpMma>>::ThroughRegisters;
};

}  // namespace threadblock
