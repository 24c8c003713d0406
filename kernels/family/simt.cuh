// Twin of src/family/simt/mod.rs: the maps of CUDA-core kernels whose threads all follow one
// schedule.
#pragma once
#include "family/one_schedule.cuh"
#include "warp/mma_simt.cuh"

// The maps of what its warps read, by the names of src/plan/program.rs.
namespace maps {
using fragment_a = warp::FragmentMap<Config, Config::A, true>;
using fragment_b = warp::FragmentMap<Config, Config::B, false>;
using depth = warp::DepthMap<Config>;
}  // namespace maps
