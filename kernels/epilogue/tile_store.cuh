// Twin of src/epilogue/tile_store.rs: store of a thread's accumulators to D.
#pragma once
#include "epilogue/operands.cuh"
#include "epilogue/results.cuh"
#include "numeric.cuh"
#include "schedule.cuh"
#include "threadblock/row_index.cuh"
#include "threadblock/work.cuh"

namespace epilogue {

// Map from (thread, accumulator) to the offset of the partial accumulator of a warp slice in shared
// memory, or of a split-K slice in its slot, in accumulators.
template <class Config>
struct PartialsMap {
  static constexpr int kRows = Config::kThreadsPerWarpSlice;
  static constexpr int kColumns = Config::A::kThreadMn * Config::B::kThreadMn;
  static __device__ __forceinline__ constexpr int at(int thread, int accumulator) {
    return accumulator * Config::kThreadsPerWarpSlice + thread;
  }
};

// One access of a thread with the sums of all split-K slices. It replaces the warp MMA in
// TileStore.
template <class Config>
struct ReducedAccess {
  struct Alone {
    static __device__ __forceinline__ constexpr int of_element(int i) { return i; }
  };
  using MapA = Alone;
  using MapB = Alone;
  static constexpr int kThreadM = 1, kThreadN = Config::kStoreAccess * (Config::kGated ? 2 : 1);
  static constexpr bool kExchanges = false, kStoresRows = false;
  using Lanes = UnsharedLines;

  int mn_a, mn_b;
  typename Config::Accumulator accumulators[kThreadN];

  __device__ __forceinline__ typename Config::Accumulator accumulator(int i) const { return accumulators[i]; }
};

// WarpMma is the MMA whose accumulators are stored; it provides their rows and columns.
template <class Config, class WarpMma>
struct TileStore {
  using Accumulator = typename Config::Accumulator;
  using Compute = typename Config::Epilogue::Compute;
  using C = typename Config::C;
  using Operands = typename Config::Epilogue::template Operands<1, Config::kStoreAccess>;
  // Columns of D that a thread stores. With a gate, it has as many accumulators of the second
  // matrix of B behind those of the gate.
  static constexpr int kColumnsOfD = WarpMma::kThreadN / (Config::kGated ? 2 : 1);
  // Results beside D of a thread's part of a tile.
  using TileResults = typename Config::Epilogue::template TileResults<WarpMma::kThreadM, kColumnsOfD, JoinedColumns<typename WarpMma::Lanes, kColumnsOfD>::kCount>;

  WarpMma& warp_mma;
  Accumulator* partials;
  int thread;

  // Steps that reduce warp slices.
  template <StepKind Kind, int WarpSlice, int>
  __device__ __forceinline__ void step() {
    int const warp_slice = thread / Config::kThreadsPerWarpSlice, within = thread % Config::kThreadsPerWarpSlice;
    if constexpr (Kind == StepKind::StoreWarpSlice) {
      if (warp_slice == WarpSlice) {
#pragma unroll
        for (int i = 0; i < PartialsMap<Config>::kColumns; ++i) partials[PartialsMap<Config>::at(within, i)] = warp_mma.accumulator(i);
      }
    } else if constexpr (Kind == StepKind::ReduceWarpSlice) {
      if (warp_slice == 0) {
#pragma unroll
        for (int i = 0; i < WarpMma::kAccumulators; ++i) {
          auto const partial = [&](int at) { return partials[PartialsMap<Config>::at(within, WarpMma::place(at))]; };
          if constexpr (WarpMma::kPacked == 2) warp_mma.accumulators[i] = sum_of(warp_mma.accumulators[i], pair_of(partial(2 * i), partial(2 * i + 1)));
          else warp_mma.accumulators[i] = sum_of(warp_mma.accumulators[i], partial(i));
        }
      }
    }
  }

  __device__ __forceinline__ void wrote() {}

  // Adds two partial accumulators; integers saturate if those of the instruction do.
  template <class Number>
  static __device__ __forceinline__ Number sum_of(Number a, Number b) {
    if constexpr (WarpMma::kSaturates) return plus_saturated(a, b);
    else return plus(a, b);
  }

  // Reduces warp slices and stores the thread's accumulators. Under split-K, the last block to
  // arrive adds all split-K slices first.
  template <class Params>
  __device__ __forceinline__ void store(Params const& params, threadblock::Unit<Config> const& unit) {
    schedule::perform<typename Config::Schedule::Epilogue>(*this);
    bool const holds = Config::kWarpsK == 1 || thread < Config::kThreadsPerWarpSlice;
    if constexpr (Config::kSplitK) {
      if (!finishes(params, unit, holds)) return;
    }
    if (holds) write<Config::kWork == threadblock::WorkKind::StreamK>(warp_mma, params, params.d, unit);
  }

  // Accumulators per thread, and per tile.
  static constexpr int kColumns = PartialsMap<Config>::kColumns;
  static constexpr unsigned kSlot = Config::kThreadsPerWarpSlice * kColumns;

  // Type of split-K sums, which slots hold.
  using Sum = typename SumOf<Accumulator>::Type;

  // Returns the address of a thread's accumulators in the first slot of a unit's tile.
  template <class Params>
  static __device__ __forceinline__ Sum* slots_of(Params const& params, threadblock::Unit<Config> const& unit, int thread) {
    return reinterpret_cast<Sum*>(params.slots) + unit.first_slot(params) * kSlot + thread;
  }

  // Stores the thread's accumulators to a slot.
  __device__ __forceinline__ void put(Sum* slot) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) slot[PartialsMap<Config>::at(0, i)] = convert<Sum>(warp_mma.accumulator(i));
  }

  // Stores the block's split-K slice to its slot. The last of kSlicesAtOnce neighbors to arrive
  // adds their slots, and so on level by level. Returns whether this block has added all slices and
  // holds the sum.
  template <class Params>
  __device__ __forceinline__ bool finishes(Params const& params, threadblock::Unit<Config> const& unit, bool holds) {
    // No other block has a slice of the tile.
    if constexpr (Config::kWork == threadblock::WorkKind::StreamK) {
      if (unit.slices(params) == 1) return true;
    }
    int const within = thread % Config::kThreadsPerWarpSlice;
    Sum* const slots = slots_of(params, unit, within);
    if (holds) put(slots + unit.slice * unit.apart * kSlot);
    if (threadblock::adds_apart<Config>(params)) return false;
    threadblock::ReductionLevel<Config> level{reinterpret_cast<unsigned*>(params.tickets) + unit.number * params.tile_tickets, unit.slice, unit.slices(params), unit.apart * kSlot};
    do {
      if (!schedule::arrives_last(level.ticket(), level.members())) return false;
      if (holds) add_slices(slots + level.first() * level.apart, level.apart, level.members());
    } while (!level.ascend());
    if (holds) {
#pragma unroll
      for (int i = 0; i < kColumns; ++i) warp_mma.set(i, convert<Accumulator>(slots[PartialsMap<Config>::at(0, i)]));
    }
    return true;
  }

  // Adds the thread's part of `slices` slots, which are `apart` elements apart, in ascending k to
  // the first of them. It loads kSumsAhead accumulators of each slot at a time.
  static __device__ __forceinline__ void add_slices(Sum* slots, unsigned apart, unsigned slices) {
    constexpr int at_once = Config::kSlicesAtOnce, together = Config::kSumsAhead;
    static_assert(kColumns % together == 0, "a thread has a whole number of them");
#pragma unroll 1
    for (int first = 0; first < kColumns; first += together) {
      Sum partial[at_once][together];
#pragma unroll
      for (int slice = 0; slice < at_once; ++slice)
#pragma unroll
        for (int i = 0; i < together; ++i)
          if (slice < slices) partial[slice][i] = slots[slice * apart + PartialsMap<Config>::at(0, first + i)];
#pragma unroll
      for (int i = 0; i < together; ++i) {
        Sum sum = partial[0][i];
#pragma unroll
        for (int slice = 1; slice < at_once; ++slice) sum = slice < slices ? sum_of(sum, partial[slice][i]) : sum;
        slots[PartialsMap<Config>::at(0, first + i)] = sum;
      }
    }
  }

  // Applies the epilogue to a thread's accumulators and stores them. `d_address` is the first D of
  // the batch. Again: the call is in a loop over units, so nothing may stay in registers across
  // units.
  template <bool Again = false, class Params>
  static __device__ __forceinline__ void write(WarpMma& warp_mma, Params const& params, unsigned long long d_address, threadblock::Unit<Config> const& unit) {
    int const row = unit.row(), column = unit.column();
    Compute scalars[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) scalars[i] = convert<Compute>(params.scalars[i]);
    auto const pitch = threadblock::pitches_stored<Again, (Config::kBlocksPerSm > 1)>(params);
    constexpr int width = Config::kStoreAccess, columns = kColumnsOfD;
    using Access = Vector<C, width>;
    constexpr bool striped = WarpMma::kExchanges;
    int mn_b = warp_mma.mn_b;
    if constexpr (striped) {
      mn_b = warp_mma.striped_b();
      warp_mma.to_stripes();
    }
    if constexpr (Config::kGated) mn_b = threadblock::GateMap<Config::kGateWarp, Config::kTileN>::column_of_d(mn_b);
    // Distances to the end of D. Origins lie within D, but sums with them may exceed 32 bits.
    int const left_m = int(unit.rows(params)) - row - warp_mma.mn_a, left_n = int(unit.columns(params)) - column - mn_b;
    long long const first_row = (long long)row + warp_mma.mn_a, first_column = (long long)column + mn_b;
    TileResults results;
    C const* source = threadblock::matrix_of_product<Config, 2, C const>(params, unit.product, params.operands[0].address, params.operands[0].batch_stride) + first_row * pitch.ldc + first_column;
    C* destination = threadblock::matrix_of_product<Config, 3, C>(params, unit.product, d_address, params.stride_d) + first_row * pitch.ldd + first_column;
    // Stores one access that lies in D, whose inputs have been read.
    auto const store = [&](int i, int j, Access const& c) {
      int const m = WarpMma::MapA::of_element(i), n = column_of(j);
      unsigned const at_row = unsigned(first_row) + m, at_column = unsigned(first_column) + n;
      Operands operands = operands_of(params, unit, at_row, at_column);
      Compute computed[width];
#pragma unroll
      for (int l = 0; l < width; ++l)
        computed[l] = Config::Epilogue::apply(accumulated(warp_mma, i, j + l), convert<Compute>(c.element[l]), scalars, operands, 0, l);
      *reinterpret_cast<Access*>(destination + m * pitch.ldd + n) = converted<C>(computed);
      add_results(operands, params, unit, {i, j}, {at_row, at_column}, results);
    };
    if constexpr (threadblock::kPlaced<Config>) {
      write_placed(warp_mma, params, unit, scalars, {int(first_row), int(first_column), left_m, left_n}, d_address, results);
      write_results(params, unit, unsigned(first_row), unsigned(first_column), results);
      return;
    }
    auto const read = [&](int i, int j) { return *reinterpret_cast<Access const*>(source + WarpMma::MapA::of_element(i) * pitch.ldc + column_of(j)); };
    // If all accesses of the thread lie in D, no bounds are checked, and those of a row are read
    // together if registers suffice.
    if (WarpMma::kStoresRows && WarpMma::MapA::of_element(WarpMma::kThreadM - 1) < left_m && column_of(columns - width) < left_n && unit.have_row(unsigned(first_row)) && unit.have_column(unsigned(first_column))) {
#pragma unroll
      for (int i = 0; i < WarpMma::kThreadM; ++i) {
        Access c[columns / width]{};
        if (params.reads_source) {
#pragma unroll
          for (int j = 0; j < columns; j += width) c[j / width] = read(i, j);
        }
#pragma unroll
        for (int j = 0; j < columns; j += width) store(i, j, c[j / width]);
      }
    } else {
      index::unrolled<WarpMma::kThreadM>([&](int i) __attribute__((always_inline)) {
        int const m = WarpMma::MapA::of_element(i);
#pragma unroll
        for (int j = 0; j < columns; j += width) {
          int const n = column_of(j);
          if (m < left_m && n < left_n && unit.have_row(unsigned(first_row) + m) && unit.have_column(unsigned(first_column) + n)) {
            Access c{};
            if (params.reads_source) c = read(i, j);
            store(i, j, c);
          }
        }
      });
    }
    write_results(params, unit, unsigned(first_row), unsigned(first_column), results);
  }

 private:
  // First element of a thread in D, and the distances to the end of D.
  struct Corner {
    int row, column, left_m, left_n;
  };

  // Applies the epilogue to a thread's accumulators and stores them at the places that an index
  // list or two strides select. C is at the same rows and columns.
  template <class Params>
  static __device__ __forceinline__ void write_placed(WarpMma& warp_mma, Params const& params, threadblock::Unit<Config> const& unit, Compute const (&scalars)[8], Corner const& first, unsigned long long d_address, TileResults& results) {
    constexpr int width = Config::kStoreAccess, columns = kColumnsOfD;
    using Access = Vector<C, width>;
    static_assert((Config::kScatter != threadblock::Scatter::N && !Config::kStrided) || width == 1, "neighboring columns are apart in memory");
    C const* const source = threadblock::matrix_of_product<Config, 2, C const>(params, unit.product, params.operands[0].address, params.operands[0].batch_stride);
    C* const destination = threadblock::matrix_of_product<Config, 3, C>(params, unit.product, d_address, params.stride_d);
#pragma unroll
    for (int i = 0; i < WarpMma::kThreadM; ++i) {
      int const m = WarpMma::MapA::of_element(i);
      unsigned const row = first.row + m;
      if (m >= first.left_m || !unit.have_row(row)) continue;
#pragma unroll
      for (int j = 0; j < columns; j += width) {
        int const n = column_of(j);
        unsigned const column = first.column + n;
        if (n >= first.left_n || !unit.have_column(column)) continue;
        threadblock::Place const place = threadblock::place_of<Config::kScatter>(params, row, column);
        if (!place.exists()) continue;
        Access c{};
        if (params.reads_source) c = *reinterpret_cast<Access const*>(source + threadblock::offset_in_c<Config, false>(params, place));
        Operands operands = operands_of(params, unit, row, column);
        Compute computed[width];
#pragma unroll
        for (int l = 0; l < width; ++l)
          computed[l] = Config::Epilogue::apply(accumulated(warp_mma, i, j + l), convert<Compute>(c.element[l]), scalars, operands, 0, l);
        *reinterpret_cast<Access*>(destination + threadblock::offset_in_d<Config, false>(params, place)) = converted<C>(computed);
        add_results(operands, params, unit, {i, j}, {row, column}, results);
      }
    }
  }

  // Returns the accumulator of a row and column of the thread, or those of both columns of a gate.
  static __device__ __forceinline__ auto accumulated(WarpMma const& warp_mma, int i, int j) {
    Compute const first = convert<Compute>(warp_mma.accumulator(i * WarpMma::kThreadN + j));
    if constexpr (Config::kGated) return Gates<Compute>{first, convert<Compute>(warp_mma.accumulator(i * WarpMma::kThreadN + kColumnsOfD + j))};
    else return first;
  }

  // Returns the columns of an access.
  static __device__ __forceinline__ Coordinates<Config::kStoreAccess> columns_from(unsigned column) {
    Coordinates<Config::kStoreAccess> columns{column, {}};
#pragma unroll
    for (int l = 0; l < Config::kStoreAccess; ++l) columns.distance[l] = l;
    return columns;
  }

  // Reads the operands of the epilogue for one access.
  template <class Params>
  static __device__ __forceinline__ Operands operands_of(Params const& params, threadblock::Unit<Config> const& unit, unsigned row, unsigned column) {
    return Operands(params, unit.product, {row, {0}}, columns_from(column));
  }

  // Writes the matrices of an access beside D, and adds its values to the results of the thread.
  // `within` is the place of the access in the thread's part, and `place` is its place in D.
  template <class Params>
  static __device__ __forceinline__ void add_results(Operands const& operands, Params const& params, threadblock::Unit<Config> const& unit, int const (&within)[2], unsigned const (&place)[2], TileResults& results) {
    if constexpr (Config::Epilogue::kWrites) {
      constexpr int width = Config::kStoreAccess;
      operands.write(params, unit.product, ResultElements<1, width>({place[0], {0}}, columns_from(place[1]), unit, params), results, within[0], within[1]);
    }
  }

  // Writes the results of the thread, whose part begins at a row and a column of D. All lanes of
  // the warp take part.
  template <class Params>
  static __device__ __forceinline__ void write_results(Params const& params, threadblock::Unit<Config> const& unit, unsigned row, unsigned column, TileResults& results) {
    using Epilogue = typename Config::Epilogue;
    if constexpr (Epilogue::kWrites) {
      using Lanes = typename WarpMma::Lanes;
      Coordinates<WarpMma::kThreadM> rows{row, {}};
#pragma unroll
      for (int i = 0; i < WarpMma::kThreadM; ++i) rows.distance[i] = WarpMma::MapA::of_element(i);
      __syncwarp();
      Epilogue::template write_rows<Lanes>(params, unit.product, rows, column, unit, results);
      Epilogue::template write_columns<Lanes, ColumnOf>(params, unit.product, row, column, ColumnStep<kColumnsOfD, true, true>{0, 0}, unit, results);
      Epilogue::template write_tile<Lanes>(params, unit.product, results);
    }
  }

  struct ColumnOf {
    static __device__ __forceinline__ constexpr int at(int j) { return column_of(j); }
  };

  // Returns the column of a thread's element, relative to its first.
  static __device__ __forceinline__ constexpr int column_of(int j) {
    if constexpr (WarpMma::kExchanges) return WarpMma::of_striped(j);
    else return WarpMma::MapB::of_element(j);
  }
};

// Second kernel of parallel split-K. A block adds all slices of one access of each thread of a tile
// and stores it.
template <class Config, class WarpMma>
struct ReduceTile {
  using Store = TileStore<Config, WarpMma>;
  static constexpr int kWidth = Config::kStoreAccess, kThreads = Config::kThreadsPerWarpSlice;
  static constexpr unsigned kBlocks = Store::kColumns / kWidth / (Config::kGated ? 2 : 1);
  using Access = Vector<typename Store::Sum, kWidth>;

  template <class Params>
  static __device__ __forceinline__ void run(Params const& params) {
    // Provides the rows and columns of the thread's accumulators; nothing is read through it.
    WarpMma const place(nullptr, threadIdx.x);
    unsigned const tile = blockIdx.x / kBlocks;
    int const first = first_of(blockIdx.x % kBlocks * kWidth);
    threadblock::Unit<Config> const unit = threadblock::unit_of_rank<Config>(tile, 0, params.tiles_m, params.tiles_n, {0, tile});
    auto const* const slots = Store::slots_of(params, unit, threadIdx.x);
    auto const load = [&](unsigned slice) {
      Access access;
#pragma unroll
      for (int i = 0; i < kWidth; ++i) access.element[i] = slots[(unsigned long long)slice * Store::kSlot + PartialsMap<Config>::at(0, first + i)];
      return access;
    };
    auto const add = [](Access a, Access const& b) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) a.element[i] = Store::sum_of(a.element[i], b.element[i]);
      return a;
    };
    Access const sum = threadblock::sum_slices<Config::kSlicesAtOnce, Access>(unit.slices(params), load, add);
    ReducedAccess<Config> access{place.mn_a + WarpMma::MapA::of_element(first / WarpMma::kThreadN), place.mn_b + WarpMma::MapB::of_element(first % WarpMma::kThreadN)};
#pragma unroll
    for (int i = 0; i < kWidth; ++i) access.accumulators[i] = convert<typename Config::Accumulator>(sum.element[i]);
    if constexpr (Config::kGated) {
      auto const load_up = [&](unsigned slice) {
        Access access;
#pragma unroll
        for (int i = 0; i < kWidth; ++i) access.element[i] = slots[(unsigned long long)slice * Store::kSlot + PartialsMap<Config>::at(0, first + Store::kColumnsOfD + i)];
        return access;
      };
      Access const up = threadblock::sum_slices<Config::kSlicesAtOnce, Access>(unit.slices(params), load_up, add);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) access.accumulators[kWidth + i] = convert<typename Config::Accumulator>(up.element[i]);
    }
    TileStore<Config, ReducedAccess<Config>>::write(access, params, params.d, unit);
  }

 private:
  // Returns the first accumulator of an access, counted through the columns of D of the thread's
  // rows.
  static __device__ __forceinline__ int first_of(int at) {
    if constexpr (Config::kGated) return at / Store::kColumnsOfD * WarpMma::kThreadN + at % Store::kColumnsOfD;
    else return at;
  }
};

}  // namespace epilogue
