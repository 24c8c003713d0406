// Twin of src/pass/records.rs: writes records from the launch parameters to memory, where a kernel
// reads them. Tensor maps require sm_90a.
#pragma once
#include "config.cuh"
#include "index.cuh"
#include "schedule/roles.cuh"
#include "threadblock/records.cuh"

namespace pass {

template <class Config, class Params>
__device__ __forceinline__ void records(Params const& params) {
  if constexpr (Config::kMapped) {
    // One block per GEMM, and one warp per matrix.
    __shared__ __align__(128) TensorMap made[4];
    unsigned const product = blockIdx.x, matrix = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned long long const address = params.word[product * threadblock::ProductRecords<1, false>::kWords + matrix];
    if (lane == 0) *threadblock::record_of<true>(params.destination, product, matrix) = address;
    // Matrices that threads read or store have no map.
    if ((params.moved >> matrix & 1) == 0) return;
    if (lane < 16) made[matrix].word[lane] = params.templates[matrix].word[lane];
    unsigned const shared = static_cast<unsigned>(__cvta_generic_to_shared(&made[matrix]));
    schedule::roles::publish(threadblock::record_of<true>(params.destination, product, 4 + matrix), shared, address);
  } else {
    unsigned const number = blockIdx.x * Config::kThreads + threadIdx.x;
    if (number < params.words) reinterpret_cast<unsigned long long*>(params.destination)[number] = params.word[number];
  }
}

}  // namespace pass
