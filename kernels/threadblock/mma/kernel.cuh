// Twin of src/threadblock/mma/kernel.rs: kernel whose threads all follow one schedule. It computes
// D = epilogue(A·B, C), one tile of D per block, or under stream-K a span and then tiles.
#pragma once
#include "config.cuh"
#include "epilogue/tile_store.cuh"
#include "layout/index_map.cuh"
#include "schedule.cuh"
#include "threadblock/multistage.cuh"
#include "threadblock/pipelined.cuh"
#include "threadblock/single_stage.cuh"
#include "threadblock/work.cuh"

// Index maps with a Rust twin, with the names of src/threadblock/mma/program.rs. A family's header
// adds the maps of the operands that its warps read.
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
  // The copies of the next unit overwrite stages that were read. The schedule has the barriers for
  // this with these kinds of work.
  static_assert(Config::kWork == threadblock::WorkKind::DataParallel || Config::kWork == threadblock::WorkKind::StreamK, "a block of such a kernel has one unit of work, or streams");

  static constexpr bool kStreams = Config::kWork == threadblock::WorkKind::StreamK;
  // Maximum number of accesses per thread for which values derived from a leading dimension are
  // recomputed in each unit. With more accesses, the compiler would keep each value.
  static constexpr int kFew = 8;

  template <class Params>
  static __device__ __forceinline__ void run(Params const& params) {
    int thread = threadIdx.x;
    threadblock::Work<Config> work(params);
    threadblock::Unit<Config> unit{};
    if (!work.first(params, unit)) return;
    do {
      // Values that depend only on the thread are not kept from unit to unit.
      if constexpr (kStreams) {
        thread = index::thread_again();
        index::forget(unit.count);
      }
      int const row = unit.row(), column = unit.column();
      decltype(auto) pitch = threadblock::pitches_read<kStreams && threadblock::ThreadMap<typename Config::A>::kAccesses <= kFew, kStreams && threadblock::ThreadMap<typename Config::B>::kAccesses <= kFew>(params);
      Mainloop mainloop(
          shared_memory,
          typename Mainloop::IteratorA(matrix<typename Config::A, 0>(params, unit, params.a, params.stride_a), pitch.lda, row, unit.rows(params), params.k, thread),
          typename Mainloop::IteratorB(matrix<typename Config::B, 1>(params, unit, params.b, params.stride_b), pitch.ldb, column, unit.columns(params), params.k, thread),
          thread, unit.k_count(params));
      if constexpr (Config::kSplitK) mainloop.skip(unit.k_begin(params));
      mainloop.run();
      if constexpr (kStreams || Mainloop::Warp::kFull) {
        if constexpr (Config::kSplitK) work.recall(params, unit);
        thread = index::thread_again();
        typename Mainloop::Warp const place(shared_memory, thread);
        mainloop.warp_mma.mn_a = place.mn_a, mainloop.warp_mma.mn_b = place.mn_b;
      }
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
