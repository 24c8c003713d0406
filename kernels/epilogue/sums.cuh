// Twin of src/epilogue/sums.rs: the second kernel of an epilogue with sums adds the parts of each
// line. The order is in src/epilogue/sums.rs.
#pragma once
#include "epilogue/math.cuh"
#include "schedule.cuh"

namespace epilogue {

// Threads of kChains warps add the parts of neighboring lines, each some parts of one line.
template <class Config>
struct AddParts {
  using Compute = typename Config::Epilogue::Compute;
  // Threads that share a line, and lines of a block.
  static constexpr unsigned kChains = Config::Epilogue::kSumChains, kLines = Config::Epilogue::kSumLines;
  // Parts that a thread loads at once, because it waits for memory once for all of them.
  static constexpr unsigned kAhead = 32;

  template <class Params>
  static __device__ __forceinline__ void run(Params const& params) {
    unsigned block = blockIdx.x;
    Config::Epilogue::each_sum(params, [&](auto const& sum, auto const& results) {
      unsigned long long const lines = (unsigned long long)sum.lines * sum.products;
      unsigned const blocks = unsigned((lines + kLines - 1) / kLines);
      if (block >= blocks) {
        block -= blocks;
        return false;
      }
      unsigned long long const at = (unsigned long long)block * kLines + threadIdx.x % kLines;
      unsigned long long const product = at / sum.lines, line = at % sum.lines;
      Compute const total = add(at < lines ? chain(sum, product, line) : Compute(0));
      if (at < lines && threadIdx.x < kLines) reinterpret_cast<Compute*>(results.address)[product * results.batch_stride + line] = total;
      return true;
    });
  }

 private:
  // Adds the thread's parts of a line, in ascending order.
  template <class Sum>
  static __device__ __forceinline__ Compute chain(Sum const& sum, unsigned long long product, unsigned long long line) {
    Compute const* const parts = reinterpret_cast<Compute const*>(sum.address) + product * sum.batch_stride + line;
    Compute total = Compute(0);
#pragma unroll 1
    for (unsigned first = threadIdx.x / kLines; first < sum.parts; first += kAhead * kChains) {
      Compute some[kAhead];
#pragma unroll
      for (unsigned i = 0; i < kAhead; ++i) {
        unsigned const part = first + i * kChains;
        some[i] = part < sum.parts ? parts[(unsigned long long)part * sum.lines] : Compute(0);
      }
      // A total that begins with 0 is never -0, so further zeros do not change it.
#pragma unroll
      for (unsigned i = 0; i < kAhead; ++i) total = math::add(total, some[i]);
    }
    return total;
  }

  // Returns the sum of all chains of the thread's line, in pairs. All threads of the block call it.
  static __device__ __forceinline__ Compute add(Compute total) {
    __shared__ Compute totals[kChains][kLines];
    totals[threadIdx.x / kLines][threadIdx.x % kLines] = total;
    schedule::wait_for_block();
    Compute all[kChains];
#pragma unroll
    for (unsigned i = 0; i < kChains; ++i) all[i] = totals[i][threadIdx.x % kLines];
#pragma unroll
    for (unsigned apart = 1; apart < kChains; apart *= 2)
#pragma unroll
      for (unsigned i = 0; i < kChains; i += 2 * apart) all[i] = math::add(all[i], all[i + apart]);
    return all[0];
  }
};

}  // namespace epilogue
