// The maps of kernels on the CUDA cores whose threads all follow one schedule. Twin of src/family/simt/mod.rs.
#pragma once
#include "family/one_schedule.cuh"
#include "warp/mma_simt.cuh"

// The maps that have a Rust twin, by the names of src/plan/program.rs.
namespace maps {
using copy_a = threadblock::ThreadMap<Config::A>;
using copy_b = threadblock::ThreadMap<Config::B>;
using smem_a = smem::SmemTile<Config::A>;
using smem_b = smem::SmemTile<Config::B>;
using fragment_a = warp::FragmentMap<Config, Config::A, true>;
using fragment_b = warp::FragmentMap<Config, Config::B, false>;
using depth = warp::DepthMap<Config>;
using partials = epilogue::PartialsMap<Config>;
}  // namespace maps
