// Twin of src/epilogue/sums.rs: the second kernel of an epilogue with sums adds the parts of each
// line.
#pragma once
#include "epilogue/math.cuh"

namespace epilogue {

// Each thread adds the parts of one line, in ascending order.
template <class Config>
struct AddParts {
  using Compute = typename Config::Epilogue::Compute;
  // Parts that a thread loads at once, because it waits for memory once for all of them.
  static constexpr unsigned kAhead = 64;

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
#pragma unroll 1
    for (unsigned first = 0; first < sum.parts; first += kAhead) {
      Compute some[kAhead];
#pragma unroll
      for (unsigned i = 0; i < kAhead; ++i) some[i] = first + i < sum.parts ? parts[(unsigned long long)(first + i) * sum.lines] : Compute(0);
      // A total that begins with 0 is never -0, so further zeros do not change it.
#pragma unroll
      for (unsigned i = 0; i < kAhead; ++i) total = math::add(total, some[i]);
    }
    reinterpret_cast<Compute*>(results.address)[product * results.batch_stride + line] = total;
  }
};

}  // namespace epilogue
