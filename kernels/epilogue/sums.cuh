// Twin of src/epilogue/sums.rs: the second kernel of an epilogue with sums adds the parts of each
// line.
#pragma once
#include "epilogue/math.cuh"

namespace epilogue {

// Each thread adds the parts of one line, in ascending order.
template <class Config>
struct AddParts {
  using Compute = typename Config::Epilogue::Compute;

  template <class Params>
  static __device__ __forceinline__ void run(Params const& params) {
    unsigned block = blockIdx.x;
    Config::Epilogue::each_sum(params, [&](auto const& sum, auto const& results) {
      unsigned long long const lines = (unsigned long long)sum.lines * sum.products;
      unsigned const blocks = unsigned((lines + blockDim.x - 1) / blockDim.x);
      if (block >= blocks) {
        block -= blocks;
        return false;
      }
      unsigned long long const at = (unsigned long long)block * blockDim.x + threadIdx.x;
      if (at < lines) add(sum, results, at / sum.lines, at % sum.lines);
      return true;
    });
  }

 private:
  template <class Sum, class Operand>
  static __device__ __forceinline__ void add(Sum const& sum, Operand const& results, unsigned long long product, unsigned long long line) {
    Compute const* const parts = reinterpret_cast<Compute const*>(sum.address) + product * sum.batch_stride + line;
    Compute total = Compute(0);
    // Unrolled, so that the thread waits for several loads at once.
#pragma unroll 16
    for (unsigned part = 0; part < sum.parts; ++part) total = math::add(total, parts[(unsigned long long)part * sum.lines]);
    reinterpret_cast<Compute*>(results.address)[product * results.batch_stride + line] = total;
  }
};

}  // namespace epilogue
