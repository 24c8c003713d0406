// Twin of src/operand/records.rs: copies words from the launch parameters to memory, where a kernel
// reads them.
#pragma once
#include "config.cuh"

namespace pass {

template <class Config, class Params>
__device__ __forceinline__ void records(Params const& params) {
  unsigned const number = blockIdx.x * Config::kThreads + threadIdx.x;
  if (number < params.words) reinterpret_cast<unsigned long long*>(params.destination)[number] = params.word[number];
}

}  // namespace pass
