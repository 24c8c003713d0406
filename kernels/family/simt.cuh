// Twin of src/family/simt/mod.rs: the index maps of CUDA-core kernels whose threads all follow one
// schedule.
#pragma once
#include "family/one_schedule.cuh"
#include "warp/mma_simt.cuh"

// Index maps of the operands that the warps read, with the names of src/plan/program.rs.
namespace maps {
using fragment_a = warp::FragmentMap<Config, Config::A, true>;
using fragment_b = warp::FragmentMap<Config, Config::B, false>;
using depth = warp::DepthMap<Config>;
}  // namespace maps
