// Twin of src/epilogue/partials.rs: split-K partials of a consumer, from its accumulators to a slot
// of the workspace, and the sum of all slices back to the accumulators.
#pragma once
#include "numeric.cuh"
#include "schedule/roles.cuh"
#include "threadblock/tensor_copy.cuh"
#include "threadblock/work.cuh"

namespace epilogue {

// Map from (thread, accumulator) to an offset in the slot of a group of threads. Four accumulators
// of a thread are contiguous, and so are the groups of four of all threads.
template <int Threads, int Count>
struct SlotMap {
  static constexpr int kRows = Threads;
  static constexpr int kColumns = Count;
  static constexpr int kTogether = 4;
  static_assert(Count % kTogether == 0, "a thread has whole vectors");
  static __device__ __forceinline__ constexpr int at(int thread, int i) { return (i / kTogether * Threads + thread) * kTogether + i % kTogether; }
};

// Partials of a thread of a consumer. `get(i)` returns accumulator i, and `set(i, sum)` replaces it
// by the sum of all slices. All loops are unrolled, so the accumulators stay in registers.
template <class Config>
struct Partials {
  using Ring = typename Config::Ring;
  using Sum = typename SumOf<typename Config::Accumulator>::Type;
  static constexpr int kCount = Config::kAccumulators;
  using Map = SlotMap<Ring::kWarpgroup, kCount>;
  static constexpr int kTogether = Map::kTogether;
  using Access = Vector<Sum, kTogether>;
  static constexpr unsigned kSlot = Ring::kWarpgroup * kCount;
  // Consumers that share a tile. Each adds the slices of its own share.
  static constexpr unsigned kSharing = Ring::kTurns > 0 ? 1 : Ring::kConsumers;

  // Returns whether this consumer has added the last slice and holds the sum.
  template <class Params, class Get, class Set>
  static __device__ __forceinline__ bool reduce(Params const& params, threadblock::Unit<Config> const& unit, unsigned consumer, unsigned thread, Get get, Set set) {
    // No other cluster has a slice of the tile.
    if constexpr (Config::kWork == threadblock::WorkKind::StreamK) {
      if (unit.slices(params) == 1) return true;
    }
    unsigned const own = Ring::kTurns > 0 ? 0 : consumer;
    Sum* const slots = slots_of(params, unit, own);
    unsigned* const tickets = reinterpret_cast<unsigned*>(params.tickets) + (unit.number * kSharing + own) * params.tile_tickets;
    threadblock::ReductionLevel<Config> level{tickets, unit.slice, unit.slices(params), unit.apart * kSharing * kSlot};
    while (true) {
      put(slots + (unsigned long long)level.slice * level.apart, thread, get);
      if (threadblock::adds_apart<Config>(params)) return false;
      if (!schedule::roles::arrives_last<Ring>(consumer, thread, level.ticket(), level.members())) return false;
      add(slots + (unsigned long long)level.first() * level.apart, level.apart, level.members(), thread, set);
      if (level.ascend()) return true;
    }
  }

  // Returns the slot of the first slice of a share of a unit's tile.
  template <class Params>
  static __device__ __forceinline__ Sum* slots_of(Params const& params, threadblock::Unit<Config> const& unit, unsigned share) {
    return reinterpret_cast<Sum*>(params.slots) + (unit.first_slot(params) * kSharing + share) * kSlot;
  }

  // Returns the sum of `slices` slices for four accumulators of a thread from `first` on. The slots
  // begin at `slots`, and this thread alone adds them.
  static __device__ __forceinline__ Access sum(Sum const* slots, unsigned slices, unsigned thread, int first) {
    auto const load = [&](unsigned slice) { return vector(slots + (unsigned long long)slice * (kSharing * kSlot), thread, first); };
    auto const add = [](Access a, Access const& b) {
#pragma unroll
      for (int i = 0; i < kTogether; ++i) a.element[i] = plus(a.element[i], b.element[i]);
      return a;
    };
    return threadblock::sum_slices<Config::kSlicesAtOnce, Access>(slices, load, add);
  }

  // Sends a thread's partial accumulators from a block of the cluster to its slot in the first
  // block, whose barrier counts the bytes. Both addresses are in this block's shared memory; the
  // first block has the same offsets.
  template <class Get>
  static __device__ __forceinline__ void send(unsigned slot, unsigned barrier, unsigned thread, Get get) {
    static_assert(sizeof(Sum) == 4, "a sum is a word");
    unsigned const to = in_first_block(slot) + thread * kTogether * sizeof(Sum), there = in_first_block(barrier);
#pragma unroll
    for (int i = 0; i < kCount; i += kTogether) {
      threadblock::send(to + Map::at(0, i) * unsigned(sizeof(Sum)), there, get(i), get(i + 1), get(i + 2), get(i + 3));
    }
  }

  // Adds the partial accumulators of Others consecutive slots to a thread's own, in ascending k.
  template <unsigned Others, class Get, class Set>
  static __device__ __forceinline__ void gather(unsigned slots, unsigned thread, Get get, Set set) {
    Sum const* const from = reinterpret_cast<Sum const*>(__cvta_shared_to_generic(slots));
#pragma unroll
    for (int i = 0; i < kCount; i += kTogether) {
      Access sum;
#pragma unroll
      for (int j = 0; j < kTogether; ++j) sum.element[j] = get(i + j);
#pragma unroll
      for (unsigned other = 0; other < Others; ++other) {
        Access const slice = vector(from + other * kSlot, thread, i);
#pragma unroll
        for (int j = 0; j < kTogether; ++j) sum.element[j] = plus(sum.element[j], slice.element[j]);
      }
#pragma unroll
      for (int j = 0; j < kTogether; ++j) set(i + j, sum.element[j]);
    }
  }

 private:
  static __device__ __forceinline__ unsigned in_first_block(unsigned address) {
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(address));
    return there;
  }
  template <class Get>
  static __device__ __forceinline__ void put(Sum* slot, unsigned thread, Get get) {
#pragma unroll
    for (int i = 0; i < kCount; i += kTogether) {
      Access four;
#pragma unroll
      for (int j = 0; j < kTogether; ++j) four.element[j] = get(i + j);
      *reinterpret_cast<Access*>(slot + Map::at(thread, i)) = four;
    }
  }

  static __device__ __forceinline__ Access vector(Sum const* slot, unsigned thread, int i) { return *reinterpret_cast<Access const*>(slot + Map::at(thread, i)); }

  // Adds `slices` slots that are `apart` elements apart, in ascending k. Loads of kVectorsAhead
  // vectors per slot are in flight at a time.
  template <class Set>
  static __device__ __forceinline__ void add(Sum const* slots, unsigned apart, unsigned slices, unsigned thread, Set set) {
    constexpr int ahead = Config::kVectorsAhead;
#pragma unroll
    for (int i = 0; i < kCount; i += kTogether * ahead) {
      Access partial[Config::kSlicesAtOnce][ahead];
#pragma unroll
      for (int slice = 0; slice < Config::kSlicesAtOnce; ++slice)
#pragma unroll
        for (int of = 0; of < ahead; ++of)
          if (slice < slices && i + of * kTogether < kCount) partial[slice][of] = vector(slots + (unsigned long long)slice * apart, thread, i + of * kTogether);
#pragma unroll
      for (int at = 0; at < ahead * kTogether; ++at) {
        if (i + at >= kCount) break;
        Sum sum = partial[0][at / kTogether].element[at % kTogether];
#pragma unroll
        for (int slice = 1; slice < Config::kSlicesAtOnce; ++slice) sum = slice < slices ? plus(sum, partial[slice][at / kTogether].element[at % kTogether]) : sum;
        set(i + at, sum);
      }
    }
  }
};

}  // namespace epilogue
