// Twin of src/threadblock/tma_ring/kernel.rs: the warp-specialized kernel. It computes D =
// epilogue(A·B, C), tile after tile.
#pragma once
#include "config.cuh"
#include "schedule.cuh"
#include "threadblock/tma_ring.cuh"

extern __shared__ __align__(1024) char shared_memory[];

namespace family {

// Consumer<Config, Params> multiplies and stores.
template <class Config, template <class, class> class Consumer, class Params>
__device__ __forceinline__ void warp_specialized(Params const& params) {
  unsigned const shared = static_cast<unsigned>(__cvta_generic_to_shared(shared_memory));
  unsigned const group = __shfl_sync(0xffffffffu, threadIdx.x / warp::kWarpgroup, 0), thread = threadIdx.x % warp::kWarpgroup;
  // The swizzle depends on addresses, so a window with another alignment would be read as a
  // different matrix.
  if (shared % 1024 != 0) __trap();
  if (threadIdx.x == 0) {
    threadblock::prefetch(params.map_a);
    threadblock::prefetch(params.map_b);
  }
  schedule::roles::State<typename Config::Ring> setup(shared, 0, thread);
  schedule::roles::perform<typename Config::Roles::Setup::Opening>(setup);
  schedule::wait_for_grids();
  if (group == 0) {
    threadblock::Producer<Config, Params> producer(params, shared, 0, thread);
    schedule::roles::run<typename Config::Roles::Producer>(producer);
  } else {
    // A single consumer has the compile-time index 0, so that the compiler need not keep the index.
    Consumer<Config, Params> consumer(params, shared, Config::Ring::kConsumers == 1 ? 0 : group - 1, thread);
    schedule::roles::run<typename Config::Roles::Consumer>(consumer);
  }
}

}  // namespace family
