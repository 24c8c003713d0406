// Twin of src/family/one_schedule/mod.rs: a kernel whose threads all follow one schedule: D =
// epilogue(A·B, C), one tile of D a block, or a span of a stream and then tiles.
#pragma once
#include "config.cuh"
#include "epilogue/tile_store.cuh"
#include "index.cuh"
#include "schedule.cuh"
#include "threadblock/mma_multistage.cuh"
#include "threadblock/mma_pipelined.cuh"
#include "threadblock/mma_single_stage.cuh"
#include "threadblock/work.cuh"

// The maps that have a Rust twin, by the names of src/plan/program.rs; a family's header has those
// of what its warps read.
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
  // A unit behind another copies to stages that were read: of these kinds of work the schedule has
  // the barriers for that.
  static_assert(Config::kWork == threadblock::WorkKind::DataParallel || Config::kWork == threadblock::WorkKind::StreamK, "a block of such a kernel has one unit of work, or streams");

  static constexpr bool kStreams = Config::kWork == threadblock::WorkKind::StreamK;
  // Accesses of a thread, up to which what is made of a leading dimension for each is made again
  // for each unit; of more the compiler would keep each.
  static constexpr int kFew = 8;

  template <class Params>
  static __device__ __forceinline__ void run(Params const& params) {
    int thread = threadIdx.x;
    threadblock::Work<Config> work(params);
    threadblock::Unit<Config> unit{};
    if (!work.first(params, unit)) return;
    do {
      // What follows from the thread alone is not kept from unit to unit.
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
