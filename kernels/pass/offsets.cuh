// Twin of src/pass/offsets.rs: copies group offsets from the launch parameters to memory, where the
// GEMM kernel reads them.
#pragma once
#include "config.cuh"

namespace pass {

template <class Config>
__device__ __forceinline__ void offsets(OffsetsParams const& params) {
  unsigned const number = threadIdx.x;
  if (number < params.count) reinterpret_cast<unsigned*>(params.destination)[number] = params.offsets[number];
}

}  // namespace pass
