// Twin of src/epilogue/partials.rs: a part of K, from the accumulators of a consumer to a slot of
// the workspace; and the sum of all parts back to them.
#pragma once
#include "numeric.cuh"
#include "schedule/roles.cuh"
#include "threadblock/tensor_copy.cuh"
#include "threadblock/work.cuh"

namespace epilogue {

// The map (thread, accumulator) to its place in the slot of a group of threads: four of a thread's
// side by side, and so those of all threads.
template <int Threads, int Count>
struct SlotMap {
  static constexpr int kRows = Threads;
  static constexpr int kColumns = Count;
  static constexpr int kTogether = 4;
  static_assert(Count % kTogether == 0, "a thread has whole vectors");
  static __device__ __forceinline__ constexpr int at(int thread, int i) { return (i / kTogether * Threads + thread) * kTogether + i % kTogether; }
};

// Those of a thread of a consumer. `get(i)` is its accumulator i, and `set(i, sum)` makes it the
// sum of all parts: loops are unrolled, so that they stay in registers.
template <class Config>
struct Partials {
  using Ring = typename Config::Ring;
  using Sum = typename SumOf<typename Config::Accumulator>::Type;
  static constexpr int kCount = Config::kAccumulators;
  using Map = SlotMap<Ring::kWarpgroup, kCount>;
  static constexpr int kTogether = Map::kTogether;
  using Access = Vector<Sum, kTogether>;
  static constexpr unsigned kSlot = Ring::kWarpgroup * kCount;
  // Consumers that share a tile, each of which adds the parts of its own share of it.
  static constexpr unsigned kSharing = Ring::kTurns > 0 ? 1 : Ring::kConsumers;

  // Whether this consumer has added the last of all parts, and holds the sum.
  template <class Params, class Get, class Set>
  static __device__ __forceinline__ bool reduce(Params const& params, threadblock::Unit<Config> const& unit, unsigned consumer, unsigned thread, Get get, Set set) {
    // A tile that nobody else has a part of.
    if constexpr (Config::kWork == threadblock::WorkKind::StreamK) {
      if (unit.parts(params) == 1) return true;
    }
    unsigned const own = Ring::kTurns > 0 ? 0 : consumer;
    Sum* const slots = slots_of(params, unit, own);
    unsigned* const tickets = reinterpret_cast<unsigned*>(params.tickets) + (unit.number * kSharing + own) * params.tile_tickets;
    threadblock::PartsLevel<Config> level{tickets, unit.part, unit.parts(params), unit.apart * kSharing * kSlot};
    while (true) {
      put(slots + (unsigned long long)level.part * level.apart, thread, get);
      if (threadblock::adds_apart<Config>(params)) return false;
      if (!schedule::roles::arrives_last<Ring>(consumer, thread, level.ticket(), level.members())) return false;
      add(slots + (unsigned long long)level.first() * level.apart, level.apart, level.members(), thread, set);
      if (level.ascend()) return true;
    }
  }

  // The slot of the first part of a share of a unit's tile.
  template <class Params>
  static __device__ __forceinline__ Sum* slots_of(Params const& params, threadblock::Unit<Config> const& unit, unsigned share) {
    return reinterpret_cast<Sum*>(params.slots) + (unit.first_slot(params) * kSharing + share) * kSlot;
  }

  // Four accumulators of a thread, from a first one on: the sum of so many parts, whose slots begin
  // there, by this thread alone.
  static __device__ __forceinline__ Access sum(Sum const* slots, unsigned parts, unsigned thread, int first) {
    auto const load = [&](unsigned part) { return vector(slots + (unsigned long long)part * (kSharing * kSlot), thread, first); };
    auto const add = [](Access a, Access const& b) {
#pragma unroll
      for (int i = 0; i < kTogether; ++i) a.element[i] = plus(a.element[i], b.element[i]);
      return a;
    };
    return threadblock::sum_of_parts<Config::kPartsAtOnce, Access>(parts, load, add);
  }

  // A thread's part of K, from a block of a cluster but the first to its slot in that, whose
  // barrier counts the bytes. Both addresses are of this block's shared memory, and lie at the same
  // places of the first one's.
  template <class Get>
  static __device__ __forceinline__ void send(unsigned slot, unsigned barrier, unsigned thread, Get get) {
    static_assert(sizeof(Sum) == 4, "a sum is a word");
    unsigned const to = in_first_block(slot) + thread * kTogether * sizeof(Sum), there = in_first_block(barrier);
#pragma unroll
    for (int i = 0; i < kCount; i += kTogether) {
      threadblock::send(to + Map::at(0, i) * unsigned(sizeof(Sum)), there, get(i), get(i + 1), get(i + 2), get(i + 3));
    }
  }

  // A thread's own part and so many others, which lie in slots one behind another: their sum in
  // ascending k.
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
        Access const part = vector(from + other * kSlot, thread, i);
#pragma unroll
        for (int j = 0; j < kTogether; ++j) sum.element[j] = plus(sum.element[j], part.element[j]);
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

  // Adds so many slots, which lie so far apart, in ascending k. Loads of kVectorsAhead vectors of
  // each are under way at a time.
  template <class Set>
  static __device__ __forceinline__ void add(Sum const* slots, unsigned apart, unsigned parts, unsigned thread, Set set) {
    constexpr int ahead = Config::kVectorsAhead;
#pragma unroll
    for (int i = 0; i < kCount; i += kTogether * ahead) {
      Access partial[Config::kPartsAtOnce][ahead];
#pragma unroll
      for (int part = 0; part < Config::kPartsAtOnce; ++part)
#pragma unroll
        for (int of = 0; of < ahead; ++of)
          if (part < parts && i + of * kTogether < kCount) partial[part][of] = vector(slots + (unsigned long long)part * apart, thread, i + of * kTogether);
#pragma unroll
      for (int at = 0; at < ahead * kTogether; ++at) {
        if (i + at >= kCount) break;
        Sum sum = partial[0][at / kTogether].element[at % kTogether];
#pragma unroll
        for (int part = 1; part < Config::kPartsAtOnce; ++part) sum = part < parts ? plus(sum, partial[part][at / kTogether].element[at % kTogether]) : sum;
        set(i + at, sum);
      }
    }
  }
};

}  // namespace epilogue
