// Twin of src/device/cuda/warp_specialized.rs: the one kernel whose warpgroups have roles: D = epilogue(A·B, C), tile after tile.
#pragma once
#include "config.cuh"
#include "threadblock/mma_warp_specialized.cuh"

// The maps that have a Rust twin, by the names of src/device/host/warp_specialized.
namespace maps {
using smem_a = warp::OperandTile<Config::Mma::A>;
using smem_b = warp::OperandTile<Config::Mma::B>;
using accumulator = warp::AccumulatorMap<Config::Mma::kN>;
using staging = epilogue::StagingMap<Config>;
using ring = threadblock::PipelineLayout<Config::Ring>;
using position = threadblock::RingPosition<Config::Ring>;
}  // namespace maps

extern __shared__ __align__(1024) char shared_memory[];

namespace device {

template <class Config, class Params>
__device__ __forceinline__ void gemm_warp_specialized(Params const& params) {
  unsigned const shared = static_cast<unsigned>(__cvta_generic_to_shared(shared_memory));
  unsigned const group = __shfl_sync(0xffffffffu, threadIdx.x / warp::kWarpgroup, 0), thread = threadIdx.x % warp::kWarpgroup;
  // The swizzle is that of addresses: a window that began elsewhere would be read as another matrix.
  if (shared % 1024 != 0) __trap();
  schedule::roles::State<typename Config::Ring> setup(shared, 0, thread);
  schedule::roles::perform<typename Config::Roles::Setup::Opening>(setup);
  if (group == 0) {
    threadblock::Producer<Config, Params> producer(params, shared, 0, thread);
    schedule::roles::run<typename Config::Roles::Producer>(producer);
  } else {
    threadblock::Consumer<Config, Params> consumer(params, shared, group - 1, thread);
    schedule::roles::run<typename Config::Roles::Consumer>(consumer);
  }
}

}  // namespace device
