// Twin of src/warp/simt/kernel.rs: the index maps of CUDA-core kernels whose threads all follow one
// schedule.
#pragma once
#include "threadblock/mma/kernel.cuh"
#include "warp/simt.cuh"

// Index maps of the operands that the warps read, with the names of src/threadblock/mma/program.rs.
namespace maps {
using fragment_a = warp::FragmentMap<Config, Config::A, true>;
using fragment_b = warp::FragmentMap<Config, Config::B, false>;
using depth = warp::DepthMap<Config>;
}  // namespace maps
