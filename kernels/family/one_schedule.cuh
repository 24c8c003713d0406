// Twin of src/family/one_schedule/mod.rs: a kernel whose threads all follow one schedule: D = epilogue(A·B, C), one tile of D a block.
#pragma once
#include "config.cuh"
#include "epilogue/tile_store.cuh"
#include "index.cuh"
#include "threadblock/mma_multistage.cuh"
#include "threadblock/mma_pipelined.cuh"
#include "threadblock/mma_single_stage.cuh"
#include "threadblock/work.cuh"

// The maps that have a Rust twin, by the names of src/plan/program.rs; a family's header has those of what its warps read.
namespace maps {
using copy_a = threadblock::ThreadMap<Config::A>;
using copy_b = threadblock::ThreadMap<Config::B>;
using smem_a = smem::SmemTile<Config::A>;
using smem_b = smem::SmemTile<Config::B>;
using partials = epilogue::PartialsMap<Config>;
}  // namespace maps

extern __shared__ __align__(16) char shared_memory[];

namespace family {

template <class Config, class Mainloop>
struct OneSchedule {
  // A unit behind another would copy to stages that threads still read.
  static_assert(Config::kWork == threadblock::WorkKind::DataParallel, "a block of such a kernel has one unit of work");

  template <class Params>
  static __device__ __forceinline__ void run(Params const& params) {
    int const thread = threadIdx.x;
    threadblock::Work<Config> work(params);
    threadblock::Unit<Config> unit{};
    if (!work.first(params, unit)) return;
    do {
      int const row = unit.row(), column = unit.column();
      Mainloop mainloop(
          shared_memory,
          typename Mainloop::IteratorA(matrix<typename Config::A, 0>(params, unit, params.a, params.stride_a), params.lda, row, unit.rows(params), params.k, thread),
          typename Mainloop::IteratorB(matrix<typename Config::B, 1>(params, unit, params.b, params.stride_b), params.ldb, column, unit.columns(params), params.k, thread),
          thread, unit.k_count(params));
      if constexpr (Config::kSplitK) mainloop.skip(unit.k_begin(params));
      mainloop.run();
      epilogue::TileStore<Config, typename Mainloop::Warp> store{mainloop.warp_mma, reinterpret_cast<typename Config::Accumulator*>(shared_memory), thread};
      store.store(params, unit);
    } while (work.take(params, unit));
  }

 private:
  template <class Operand, int Number, class Params>
  static __device__ __forceinline__ typename Operand::Element const* matrix(Params const& params, threadblock::Unit<Config> const& unit, unsigned long long address, long long stride) {
    return threadblock::matrix_of_product<Config, Number, typename Operand::Element const>(params, unit.product, address, stride);
  }
};

}  // namespace family
