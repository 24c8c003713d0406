// Twin of src/epilogue/tile_store.rs: from a thread's accumulators to D.
#pragma once
#include "numeric.cuh"
#include "schedule.cuh"
#include "threadblock/work.cuh"
#include "warp/mma_simt.cuh"

namespace epilogue {

// The map (thread, accumulator) to where a slice of K stores it, in accumulators.
template <class Config>
struct PartialsMap {
  static constexpr int kRows = Config::kThreadsPerSlice;
  static constexpr int kColumns = Config::A::kThreadMn * Config::B::kThreadMn;
  static __device__ __forceinline__ constexpr int at(int thread, int accumulator) {
    return accumulator * Config::kThreadsPerSlice + thread;
  }
};

template <class Config>
struct TileStore {
  using Accumulator = typename Config::Accumulator;
  using Compute = typename Config::Epilogue::Compute;
  using C = typename Config::C;
  using WarpMma = warp::MmaSimt<Config>;

  WarpMma& warp_mma;
  Accumulator* partials;
  int thread;

  // The steps that bring the slices of K together.
  template <StepKind Kind, int Slice, int>
  __device__ __forceinline__ void step() {
    int const slice = thread / Config::kThreadsPerSlice, within = thread % Config::kThreadsPerSlice;
    if constexpr (Kind == StepKind::StorePartials) {
      if (slice == Slice) {
#pragma unroll
        for (int i = 0; i < PartialsMap<Config>::kColumns; ++i) partials[PartialsMap<Config>::at(within, i)] = warp_mma.accumulator(i);
      }
    } else if constexpr (Kind == StepKind::ReducePartials) {
      if (slice == 0) {
#pragma unroll
        for (int i = 0; i < WarpMma::kAccumulators; ++i) {
          auto const partial = [&](int at) { return partials[PartialsMap<Config>::at(within, WarpMma::place(at))]; };
          if constexpr (WarpMma::kPacked == 2) warp_mma.accumulators[i] = plus(warp_mma.accumulators[i], pair_of(partial(2 * i), partial(2 * i + 1)));
          else warp_mma.accumulators[i] = plus(warp_mma.accumulators[i], partial(i));
        }
      }
    }
  }

  __device__ __forceinline__ void wrote() {}

  // The slices of K brought together, and the thread's accumulators stored; (row, column) is the tile's first element of the product's D. Of a part of K
  // the block that arrives last adds all parts before.
  template <class Params>
  __device__ __forceinline__ void store(Params const& params, threadblock::Unit<Config> const& unit, int row, int column) {
    schedule::perform<typename Config::Schedule::Epilogue>(*this);
    bool const holds = Config::kWarpsK == 1 || thread < Config::kThreadsPerSlice;
    if constexpr (Config::kSplitK) {
      if (!finishes(params, unit, holds)) return;
    }
    if (holds) write(warp_mma, params, params.d, unit.product, row, column);
  }

  // Accumulators of a tile.
  static constexpr unsigned kSlot = Config::kThreadsPerSlice * PartialsMap<Config>::kColumns;

  // What parts are added in and slots hold.
  using Sum = typename SumOf<Accumulator>::Type;

  // Takes the block's part of K to its slot. The last of every kPartsAtOnce neighbours that arrives adds theirs, the last of as many such groups
  // adds the groups', and so on; whether this block has added all there are.
  template <class Params>
  __device__ __forceinline__ bool finishes(Params const& params, threadblock::Unit<Config> const& unit, bool holds) {
    constexpr unsigned at_once = Config::kPartsAtOnce;
    Sum* const slots = reinterpret_cast<Sum*>(params.slots) + (unsigned long long)unit.number * params.split_k * kSlot;
    unsigned* tickets = reinterpret_cast<unsigned*>(params.tickets) + unit.number * params.tile_tickets;
    if (holds) store_part(slots + unit.part * kSlot);
    for (unsigned part = unit.part, parts = params.split_k, apart = kSlot;; apart *= at_once) {
      unsigned const group = part / at_once, groups = (parts + at_once - 1) / at_once, first = group * at_once;
      unsigned const many = min(parts - first, at_once);
      if (!schedule::arrives_last(tickets + group, many)) return false;
      if (holds) add_parts(slots + (unsigned long long)first * apart, apart, many, groups == 1);
      if (groups == 1) return true;
      tickets += groups;
      part = group;
      parts = groups;
    }
  }

  // The thread's accumulators of a part, to its slot.
  __device__ __forceinline__ void store_part(Sum* slot) const {
    int const within = thread % Config::kThreadsPerSlice;
#pragma unroll
    for (int i = 0; i < PartialsMap<Config>::kColumns; ++i) slot[PartialsMap<Config>::at(within, i)] = convert<Sum>(warp_mma.accumulator(i));
  }

  // Adds the slots of so many neighbours, which lie so far apart, in ascending k: the last ones to the thread's accumulators, others to the first slot. As many loads
  // are under way as there are parts of some accumulators.
  __device__ __forceinline__ void add_parts(Sum* slots, unsigned apart, unsigned parts, bool last) {
    constexpr int columns = PartialsMap<Config>::kColumns, at_once = Config::kPartsAtOnce, together = sizeof(Sum) > 4 ? 1 : 2;
    static_assert(columns % together == 0, "accumulators of a thread are a power of two");
    int const within = thread % Config::kThreadsPerSlice;
#pragma unroll
    for (int first = 0; first < columns; first += together) {
      Sum partial[at_once][together];
#pragma unroll
      for (int part = 0; part < at_once; ++part)
#pragma unroll
        for (int i = 0; i < together; ++i)
          if (part < parts) partial[part][i] = slots[part * apart + PartialsMap<Config>::at(within, first + i)];
#pragma unroll
      for (int i = 0; i < together; ++i) {
        Sum sum = partial[0][i];
#pragma unroll
        for (int part = 1; part < at_once; ++part) sum = part < parts ? plus(sum, partial[part][i]) : sum;
        if (last) warp_mma.set(first + i, convert<Accumulator>(sum));
        else slots[PartialsMap<Config>::at(within, first + i)] = sum;
      }
    }
  }

  // Epilogue and store of a thread's accumulators; the first D of the batch is at an address.
  template <class Params>
  static __device__ __forceinline__ void write(WarpMma const& warp_mma, Params const& params, unsigned long long d_address, unsigned product, int row, int column) {
    Compute scalars[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) scalars[i] = convert<Compute>(params.scalars[i]);
    constexpr int width = Config::kStoreAccess, columns = Config::B::kThreadMn;
    using Access = Vector<C, width>;
    // Distances to the end of D: origins lie within it, sums with them might not lie within 32 bits.
    int const left_m = params.m - row - warp_mma.mn_a, left_n = params.n - column - warp_mma.mn_b;
    long long const first_row = (long long)row + warp_mma.mn_a, first_column = (long long)column + warp_mma.mn_b;
    C const* source = threadblock::matrix_of<Config, C const>(product, params.c, params.stride_c) + first_row * params.ldc + first_column;
    C* destination = threadblock::matrix_of<Config, C>(product, d_address, params.stride_d) + first_row * params.ldd + first_column;
#pragma unroll
    for (int i = 0; i < Config::A::kThreadMn; ++i) {
      int const m = WarpMma::MapA::of_element(i);
#pragma unroll
      for (int j = 0; j < columns; j += width) {
        int const n = WarpMma::MapB::of_element(j);
        if (m < left_m && n < left_n) {
          Access c{}, d;
          if (params.reads_source) c = *reinterpret_cast<Access const*>(source + m * params.ldc + n);
#pragma unroll
          for (int l = 0; l < width; ++l)
            d.element[l] = convert<C>(Config::Epilogue::apply(convert<Compute>(warp_mma.accumulator(i * columns + j + l)), convert<Compute>(c.element[l]), scalars, params, unsigned(first_row) + m, unsigned(first_column) + n + l));
          *reinterpret_cast<Access*>(destination + m * params.ldd + n) = d;
        }
      }
    }
  }
};

}  // namespace epilogue
