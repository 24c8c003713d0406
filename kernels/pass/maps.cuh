// Twin of src/pass/maps.rs: tensor maps of the GEMMs of a pointer array, built from templates and
// from addresses in the launch parameters. Requires sm_90a.
#pragma once
#include "config.cuh"
#include "index.cuh"
#include "schedule/roles.cuh"
#include "threadblock/addresses.cuh"

namespace pass {

// One block per GEMM, and one warp per matrix.
template <class Config>
__device__ __forceinline__ void maps(MapsOfProducts const& params) {
  __shared__ __align__(128) TensorMap made[4];
  unsigned const product = blockIdx.x, matrix = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned long long const address = params.addresses[threadblock::ProductAddresses<1>::at(product, matrix)];
  if (lane == 0) *threadblock::record_of(params.records, product, 4 + matrix) = address;
  // Matrices that threads read or store have no map.
  if ((params.moved >> matrix & 1) == 0) return;
  if (lane < 16) made[matrix].word[lane] = params.templates[matrix].word[lane];
  unsigned const shared = static_cast<unsigned>(__cvta_generic_to_shared(&made[matrix]));
  schedule::roles::publish(threadblock::record_of(params.records, product, matrix), shared, address);
}

}  // namespace pass
