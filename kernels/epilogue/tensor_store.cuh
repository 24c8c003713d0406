// Twin of src/epilogue/tensor_store.rs: store of a warpgroup's accumulators to D, subtile by
// subtile. The epilogue writes to a staging buffer, in which C has the same layout, and TMA copies
// the buffer to D. If C and D are not aligned for TMA, threads access them.
#pragma once
#include "epilogue/operands.cuh"
#include "epilogue/results.cuh"
#include "epilogue/tensor_store/staging.cuh"
#include "numeric.cuh"
#include "numeric/emulation.cuh"
#include "threadblock/records.cuh"
#include "threadblock/row_index.cuh"
#include "threadblock/tensor_copy.cuh"
#include "threadblock/work.cuh"

namespace epilogue {

template <class Config, class Params>
struct TensorStore {
  using Mma = typename Config::Mma;
  using C = typename Config::C;
  using Accumulator = typename Config::Accumulator;
  using Compute = typename Config::Epilogue::Compute;
  using Accumulators = typename Mma::Accumulator[Config::kRepeatsM][Config::kRepeatsN][Mma::kRegisters];
  using Pair = Vector<C, 2>;
  using Neighbours = Vector<Compute, 2>;
  using Map = StagingMap<Config>;
  using Access = StagingAccess<Config>;
  // Columns of D of a consumer. With a gate, it has as many accumulators of the second matrix of B
  // behind those of the gate.
  static constexpr int kColumnsOfD = kConsumerColumns<Config>;
  // Subtiles side by side along N.
  static constexpr int kAcross = kColumnsOfD / Config::kSubtileColumns;
  // Whether C comes through the staging buffers; otherwise, threads read it.
  static constexpr bool kFetches = Config::Ring::kSources > 0;
  static constexpr int kOctet = Map::kOctet;
  // A thread has two rows of a subtile, and two columns of each octet.
  static constexpr int kColumns = Config::kSubtileColumns / kOctet * 2;
  using Operands = typename Config::Epilogue::template Operands<2, kColumns>;
  // Subtiles one below the other. If registers suffice, a thread keeps the reductions of all its
  // columns, and lanes join them after the last subtile. Otherwise, they join those of each
  // subtile, and keep what remains.
  static constexpr int kDown = Config::kWarpM / Map::kRows;
  static constexpr bool kKeepsColumns = Config::kKeepsColumns;
  using Lanes = ConsumerLanes<Config>;
  static constexpr int kJoined = JoinedColumns<Lanes, kColumns>::kCount;
  // Distance of a thread's column from its first.
  struct ColumnOf {
    static __device__ __forceinline__ constexpr int at(int w) { return w / 2 * kOctet + w % 2; }
  };
  // Whether an index list or two strides select the places of D's elements.
  static constexpr bool kPlaced = threadblock::kPlaced<Config>;

  Params const& params;
  unsigned const thread;
  // Vectors of the epilogue in shared memory.
  unsigned const vectors;
  // First row and column of the warpgroup's part in D, and the index of the GEMM.
  unsigned row = 0;
  unsigned column = 0;
  unsigned product = 0;
  threadblock::Positions<Config::kPositions, 2> positions;
  // Lines of D that belong to the group.
  threadblock::Lines<Config::kRagged, Config::kGroupStep> group{};
  Compute scalars[8];
  // Results of the tile so far.
  typename Config::Epilogue::template TileResults<2, kKeepsColumns ? kAcross * kColumns : kColumns, kKeepsColumns ? kJoined : kAcross * kJoined> tile_results;

  __device__ __forceinline__ TensorStore(Params const& params, unsigned thread, unsigned vectors) : params(params), thread(thread), vectors(vectors) {
#pragma unroll
    for (int i = 0; i < 8; ++i) scalars[i] = convert<Compute>(params.scalars[i]);
  }

  // First row and column of a consumer's part of a tile.
  static __device__ __forceinline__ unsigned consumer_row(unsigned consumer) { return consumer % Config::kConsumersM * Config::kWarpM; }
  static __device__ __forceinline__ unsigned consumer_column(unsigned consumer) { return consumer / Config::kConsumersM % Config::kConsumersN * Config::kWarpN; }

  static __device__ __forceinline__ void clear(Accumulators& accumulators) {
#pragma unroll
    for (int m = 0; m < Config::kRepeatsM; ++m)
#pragma unroll
      for (int n = 0; n < Config::kRepeatsN; ++n)
#pragma unroll
        for (int i = 0; i < Mma::kRegisters; ++i) accumulators[m][n][i] = 0;
  }

  // Returns an accumulator; f16 has two per register.
  static __device__ __forceinline__ Accumulator accumulator(typename Mma::Accumulator const (&accumulators)[Mma::kRegisters], int i) {
    if constexpr (sizeof(Accumulator) == 2) {
      return Accumulator{(unsigned short)(accumulators[i / 2] >> i % 2 * 16)};
    } else {
      return accumulators[i];
    }
  }

  // Replaces an accumulator by a rounded sum.
  template <class Sum>
  static __device__ __forceinline__ void set(typename Mma::Accumulator (&accumulators)[Mma::kRegisters], int i, Sum sum) {
    if constexpr (sizeof(Accumulator) == 2) {
      unsigned const half = convert<Accumulator>(sum).bits;
      accumulators[i / 2] = i % 2 == 0 ? (accumulators[i / 2] & 0xffff0000u) | half : (accumulators[i / 2] & 0xffffu) | half << 16;
    } else {
      accumulators[i] = sum;
    }
  }

  // Stages the vectors of the epilogue for the part of D.
  __device__ __forceinline__ void stage_vectors() const { Config::Epilogue::stage_vectors(staged_vectors(), params, product, thread); }

  // Stages every thread's part of a subtile.
  template <int Subtile>
  __device__ __forceinline__ void store_staging(Accumulators const& accumulators, unsigned staging) {
    if constexpr (!Config::Epilogue::kReadsAlphaBetaOrC) {
      store_staging<Subtile, false>(accumulators, staging, scalars);
    } else if (Config::Epilogue::kReadsAlpha && params.unscaled) {
      // With known scalars, the compiler folds the scaling and removes the loads of C. Without
      // alpha, this would save little, and the compiler would branch for each octet.
      Compute const known[8] = {Compute(1), Compute(0), scalars[2], scalars[3], scalars[4], scalars[5], scalars[6], scalars[7]};
      store_staging<Subtile, false>(accumulators, staging, known);
    } else {
      store_staging<Subtile, true>(accumulators, staging, scalars);
    }
  }

  // Copies a subtile of C to its staging buffer. A single thread does this.
  template <int Subtile>
  __device__ __forceinline__ void fetch(unsigned staging, unsigned barrier) const {
#pragma unroll
    for (int box = 0; box < Map::kBoxes; ++box) threadblock::load(staging + box * Map::kBoxBytes, params.map_c, corner<Subtile, 2>(box), barrier);
  }

  // Writes a subtile from its staging buffer to D, and returns whether TMA does so. Threads write
  // it if D is not aligned for TMA, and if the subtile is not entirely in its group.
  template <int Subtile>
  __device__ __forceinline__ bool write(unsigned staging) {
    constexpr bool grouped = threadblock::divides_d(Config::kRagged);
    unsigned const first_row = row + Subtile / kAcross * Map::kRows, first_column = column + Subtile % kAcross * Config::kSubtileColumns;
    if (Config::kByTma && group.hold(first_row, first_column, Map::kRows, Config::kSubtileColumns)) {
      if (thread == 0) {
#pragma unroll
        for (int box = 0; box < Map::kBoxes; ++box) threadblock::store(params.map_d, corner<Subtile, 3>(box), staging + box * Map::kBoxBytes);
      }
      return true;
    }
    if constexpr (!Config::kByTma || grouped) write_by_threads<Subtile>(staging);
    return false;
  }

 protected:
  template <int Subtile>
  __device__ __forceinline__ void write_by_threads(unsigned staging) const {
    if constexpr (kPlaced) {
      write_placed<Subtile>(staging);
    } else if constexpr (Config::kColumnMajor) {
      write_columns<Subtile>(staging);
    } else {
      unsigned const first_row = row + Subtile / kAcross * Map::kRows, first_column = column + Subtile % kAcross * Config::kSubtileColumns;
      // Each thread has accesses in one column, `apart` rows from one to the next.
      using Access = Vector<C, Config::kStoreAccess>;
      constexpr unsigned a_row = Config::kSubtileColumns / Config::kStoreAccess, apart = warp::kWarpgroup / a_row;
      static_assert(warp::kWarpgroup % a_row == 0, "a thread has one column");
      unsigned const n = thread % a_row * Config::kStoreAccess;
      if (first_column + n >= group.columns(params) || !group.have_column(first_column + n)) return;
      unsigned m = thread / a_row;
      C* d = threadblock::matrix_of_product<Config, 3, C>(params, product, params.d, params.stride_d) + (long long)(first_row + m) * params.ldd + first_column + n;
#pragma unroll 4
      for (; m < Map::kRows && first_row + m < group.rows(params); m += apart, d += apart * params.ldd)
        if (group.have_row(first_row + m)) *reinterpret_cast<Access*>(d) = shared<Access>(Map::within(staging + m * Map::kRowBytes, n * sizeof(C)));
    }
  }

  // Returns the corner of a subtile's box in C (tensor 2 of the parameters) or D (tensor 3).
  template <int Subtile, int Number>
  __device__ __forceinline__ auto corner(int box) const {
    int const m = row + Subtile / kAcross * Map::kRows + box * Map::kBoxRows, n = column + Subtile % kAcross * Config::kSubtileColumns;
    return threadblock::box_corner<Config, Number>(params, product, positions, Config::kColumnMajor ? m : n, Config::kColumnMajor ? n : m);
  }

  // Writes a subtile of a column-major D. Each thread has accesses in the same rows, `apart`
  // columns from one to the next.
  template <int Subtile>
  __device__ __forceinline__ void write_columns(unsigned staging) const {
    unsigned const first_row = row + Subtile / kAcross * Map::kRows, first_column = column + Subtile % kAcross * Config::kSubtileColumns;
    using Access = Vector<C, Config::kStoreAccess>;
    constexpr unsigned a_column = Map::kRows / Config::kStoreAccess, apart = warp::kWarpgroup / a_column;
    unsigned const m = thread % a_column * Config::kStoreAccess;
    if (first_row + m >= group.rows(params) || !group.have_row(first_row + m)) return;
    unsigned n = thread / a_column;
    C* d = threadblock::matrix_of_product<Config, 3, C>(params, product, params.d, params.stride_d) + (long long)(first_column + n) * params.ldd + first_row + m;
#pragma unroll 4
    for (; n < Config::kSubtileColumns && first_column + n < group.columns(params); n += apart, d += apart * params.ldd)
      if (group.have_column(first_column + n)) *reinterpret_cast<Access*>(d) = shared<Access>(staging + Map::in_columns(m, n));
  }

  // Writes a subtile to the places that an index list or two strides select. Each thread has
  // accesses `apart` lines from one to the next.
  template <int Subtile>
  __device__ __forceinline__ void write_placed(unsigned staging) const {
    unsigned const first_row = row + Subtile / kAcross * Map::kRows, first_column = column + Subtile % kAcross * Config::kSubtileColumns;
    using Access = Vector<C, Config::kStoreAccess>;
    static_assert(Config::kStoreAccess == 1 || (!Config::kStrided && (Config::kScatter == threadblock::Scatter::N) == bool(Config::kColumnMajor)), "neighbors are apart in memory");
    constexpr unsigned length = Config::kColumnMajor ? Map::kRows : Config::kSubtileColumns, lines = Config::kColumnMajor ? Config::kSubtileColumns : Map::kRows;
    constexpr unsigned a_line = length / Config::kStoreAccess, apart = warp::kWarpgroup / a_line;
    static_assert(warp::kWarpgroup % a_line == 0, "a thread is at one place of its lines");
    unsigned const at = thread % a_line * Config::kStoreAccess;
    C* const d = threadblock::matrix_of_product<Config, 3, C>(params, product, params.d, params.stride_d);
    // The position of a group leaves no registers for several places.
    constexpr int at_once = Config::kRagged == threadblock::Ragged::None ? 4 : 1;
#pragma unroll at_once
    for (unsigned line = thread / a_line; line < lines; line += apart) {
      unsigned const m = Config::kColumnMajor ? at : line, n = Config::kColumnMajor ? line : at;
      bool const inside = first_row + m < group.rows(params) && first_column + n < group.columns(params);
      if (!inside || !group.have_row(first_row + m) || !group.have_column(first_column + n)) continue;
      threadblock::Place const place = threadblock::place_of<Config::kScatter>(params, first_row + m, first_column + n);
      if (!place.exists()) continue;
      Access* const to = reinterpret_cast<Access*>(d + threadblock::offset_in_d<Config, bool(Config::kColumnMajor)>(params, place));
      if constexpr (Config::kColumnMajor) {
        *to = shared<Access>(staging + Map::in_columns(m, n));
      } else {
        *to = shared<Access>(Map::within(staging + m * Map::kRowBytes, n * sizeof(C)));
      }
    }
  }

  // Stages every thread's part of a subtile of a column-major D whose two rows per thread are
  // neighbors in each column.
  template <int Subtile, bool MayRead>
  __device__ __forceinline__ void store_staging_columns(Accumulators const& accumulators, unsigned staging, Compute const (&scalar)[8]) {
    constexpr int across = Subtile % kAcross * Config::kSubtileColumns, down = Subtile / kAcross;
    static_assert(Config::kFragmentRows == warp::FragmentRows::Paired, "a thread has neighbours along M");
    unsigned const m = row + down * Map::kRows + warp::warpgroup_row<Config::kFragmentRows>(thread, 0);
    Operands operands = read_operands<Subtile>();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      int const lanes = thread % 4 * 2 + i;
      unsigned const first = alone(Access::column(staging, thread, i));
#pragma unroll
      for (int octet = 0; octet < Config::kSubtileColumns / kOctet; ++octet) {
        unsigned const to = Map::octets_on(first, octet);
        int const n = across + octet * kOctet;
        Pair source{};
        if constexpr (!kFetches) source = read_column<down, MayRead>(n + lanes);
        else if (MayRead && params.reads_source) source = staged(to);
        Compute two[2];
#pragma unroll
        for (int lower = 0; lower < 2; ++lower) {
          int const at = n % Mma::kN / kOctet * 4 + 2 * lower + i;
          static_assert(!Config::kGated, "a kernel with gates stores rows");
          two[lower] = Config::Epilogue::apply(convert<Compute>(accumulator(accumulators[down][n / Mma::kN], at)), convert<Compute>(source.element[lower]), scalar, operands, lower, 2 * octet + i);
        }
        store_staging_pair(to, two);
      }
    }
    write_results<Subtile>(operands);
  }

  // Writes two neighbors of D to a staging buffer.
  static __device__ __forceinline__ void store_staging_pair(unsigned to, Compute const (&computed)[2]) {
    if constexpr (sizeof(C) == 2) {
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(convert_pair<C>(computed[0], computed[1])) : "memory");
    } else if constexpr (PairOf<C>::exists && IsSame<Compute, float>::value) {
      asm volatile("st.shared.b16 [%0], %1;" ::"r"(to), "h"(convert_pair<C>(computed[0], computed[1])) : "memory");
    } else {
      Pair const two{{convert<C>(computed[0]), convert<C>(computed[1])}};
      if constexpr (sizeof(C) == 4) {
        asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(bits(two.element[0])), "r"(bits(two.element[1])) : "memory");
      } else {
        static_assert(sizeof(C) == 1, "elements of D have 1, 2 or 4 bytes");
        asm volatile("st.shared.b16 [%0], %1;" ::"r"(to), "h"(halves(two)) : "memory");
      }
    }
  }

  // Reads the lane's two neighbors of a column of C from global memory. Returns zeros outside, and
  // if C is not read.
  template <int Down, bool MayRead>
  __device__ __forceinline__ Pair read_column(int of_tile) const {
    Pair two{};
    unsigned const m = row + Down * Map::kRows + warp::warpgroup_row<Config::kFragmentRows>(thread, 0), n = column + of_tile;
    if (!MayRead || !params.reads_source || n >= group.columns(params)) return two;
    if constexpr (kPlaced) {
      for (unsigned i = 0; i < 2; ++i) two.element[i] = placed_source(m + i, n);
      return two;
    }
    C const* const from = threadblock::matrix_of_product<Config, 2, C const>(params, product, params.operands[0].address, params.operands[0].batch_stride) + (long long)n * params.operands[0].column_stride + m;
    if constexpr (Config::kStoreAccess >= 2) {
      if (m < group.rows(params)) two = *reinterpret_cast<Pair const*>(from);
    } else {
#pragma unroll
      for (unsigned i = 0; i < 2; ++i)
        if (m + i < group.rows(params)) two.element[i] = from[i];
    }
    return two;
  }

  template <int Subtile, bool MayRead>
  __device__ __forceinline__ void store_staging(Accumulators const& accumulators, unsigned staging, Compute const (&scalar)[8]) {
    constexpr int across = Subtile % kAcross * Config::kSubtileColumns, down = Subtile / kAcross;
    if constexpr (Access::kInColumns) {
      store_staging_columns<Subtile, MayRead>(accumulators, staging, scalar);
    } else if constexpr (Access::kMatrices) {
      constexpr int octets = Config::kSubtileColumns / kOctet;
      unsigned const first = alone(Access::matrices(staging, thread));
      Operands operands = read_operands<Subtile>();
#pragma unroll
      for (int octet = 0; octet < octets; octet += 2) {
        unsigned const to = Map::octets_on(first, octet);
        bool const four = octet + 1 < octets;
        unsigned words[4] = {};
        if (kFetches && MayRead && params.reads_source) Access::load(words, to, four);
#pragma unroll
        for (int i = 0; i < (four ? 4 : 2); ++i) {
          int const n = across + (octet + i / 2) * kOctet;
          Pair const source = kFetches ? pair(words[i]) : read<down, MayRead>(n, i % 2);
          Neighbours const two = apply<down>(accumulators, source, scalar, operands, n, i % 2);
          words[i] = convert_pair<C>(two.element[0], two.element[1]);
        }
        Access::store(to, words, four);
      }
      write_results<Subtile>(operands);
    } else if constexpr (Config::kColumnMajor) {
      store_staging_elements<Subtile, MayRead>(accumulators, staging, scalar);
    } else {
      unsigned const first = alone(Access::row(staging, thread, 0));
      // If the lower row is not eight rows below, it has its own address.
      constexpr bool eight_on = Access::kOrdinary;
      unsigned const below = eight_on ? first : alone(Access::row(staging, thread, 1));
      Operands operands = read_operands<Subtile>();
#pragma unroll
      for (int octet = 0; octet < Config::kSubtileColumns / kOctet; ++octet)
#pragma unroll
        for (int lower = 0; lower < 2; ++lower) {
          unsigned const to = eight_on ? Map::further(first, octet, lower) : Map::further(lower ? below : first, octet, 0);
          int const n = across + octet * kOctet;
          Pair source{};
          if constexpr (!kFetches) source = read<down, MayRead>(n, lower);
          else if (MayRead && params.reads_source) source = staged(to);
          Neighbours const computed = apply<down>(accumulators, source, scalar, operands, n, lower);
          store_staging_pair(to, computed.element);
        }
      write_results<Subtile>(operands);
    }
  }

  // Stages every thread's part of a subtile of a column-major D element by element. The elements of
  // a row belong to two columns.
  template <int Subtile, bool MayRead>
  __device__ __forceinline__ void store_staging_elements(Accumulators const& accumulators, unsigned staging, Compute const (&scalar)[8]) {
    constexpr int across = Subtile % kAcross * Config::kSubtileColumns, down = Subtile / kAcross;
    unsigned const first[2] = {alone(Access::column(staging, thread, 0)), alone(Access::column(staging, thread, 1))};
    Operands operands = read_operands<Subtile>();
#pragma unroll
    for (int octet = 0; octet < Config::kSubtileColumns / kOctet; ++octet)
#pragma unroll
      for (int lower = 0; lower < 2; ++lower) {
        int const n = across + octet * kOctet;
        unsigned to[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) to[i] = Map::octets_on(Access::eight_rows_on(first[i], lower), octet);
        Pair source{};
        if constexpr (!kFetches) source = read<down, MayRead>(n, lower);
        else if (MayRead && params.reads_source) source = staged(to);
        Neighbours const computed = apply<down>(accumulators, source, scalar, operands, n, lower);
#pragma unroll
        for (int i = 0; i < 2; ++i) store_staging_element(to[i], convert<C>(computed.element[i]));
      }
    write_results<Subtile>(operands);
  }

  using Vectors = StagedVectors<Config::kWarpM, kColumnsOfD>;
  static_assert(Config::Epilogue::template vector_bytes<Vectors>() == Config::Ring::kVectorBytes, "vectors: Rust and CUDA differ in their bytes");
  __device__ __forceinline__ Vectors staged_vectors() const { return {vectors, row, column}; }

  // Returns the rows of the thread's elements of a subtile in D.
  template <int Subtile>
  __device__ __forceinline__ Coordinates<2> rows_of() const {
    constexpr int down = Subtile / kAcross * Map::kRows;
    int const upper = warp::warpgroup_row<Config::kFragmentRows>(thread, 0), lower = warp::warpgroup_row<Config::kFragmentRows>(thread, 1);
    return {row + down + upper, {0, lower - upper}};
  }

  // Returns the columns of the thread's elements of a subtile in D.
  template <int Subtile>
  __device__ __forceinline__ Coordinates<kColumns> columns_of() const {
    constexpr int across = Subtile % kAcross * Config::kSubtileColumns;
    Coordinates<kColumns> columns{column + across + thread % 4 * 2, {}};
#pragma unroll
    for (int w = 0; w < kColumns; ++w) columns.distance[w] = ColumnOf::at(w);
    return columns;
  }

  static __device__ __forceinline__ void store_staging_element(unsigned to, C const& element) {
    if constexpr (sizeof(C) == 1) {
      asm volatile("st.shared.b8 [%0], %1;" ::"r"(to), "r"(unsigned(byte_of(element))) : "memory");
    } else {
      static_assert(sizeof(C) == 4, "elements of D have 1 or 4 bytes");
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(bits(element)) : "memory");
    }
  }

  // Reads the operands of the epilogue for the thread's elements of a subtile.
  template <int Subtile>
  __device__ __forceinline__ Operands read_operands() const {
    return Operands(staged_vectors(), params, product, rows_of<Subtile>(), columns_of<Subtile>());
  }

  // Writes the results of the epilogue beside D for the thread's elements of a subtile.
  template <int Subtile>
  __device__ __forceinline__ void write_results(Operands const& operands) {
    using Epilogue = typename Config::Epilogue;
    if constexpr (Epilogue::kWrites) {
      Coordinates<2> const rows = rows_of<Subtile>();
      Coordinates<kColumns> const columns = columns_of<Subtile>();
      constexpr int down = Subtile / kAcross, across = Subtile % kAcross, first = kKeepsColumns ? across * kColumns : 0;
      using Step = ColumnStep<kColumns, kKeepsColumns || down == 0, down == kDown - 1>;
      operands.template write<Lanes>(params, product, ResultElements<2, kColumns>(rows, columns, group, params), tile_results, 0, first);
      if constexpr (down == kDown - 1 || !kKeepsColumns) Epilogue::template write_columns<Lanes, ColumnOf>(params, product, rows.first, columns.first, Step{first, kKeepsColumns ? 0 : across * kJoined}, group, tile_results);
      if constexpr (across == kAcross - 1) Epilogue::template write_rows<Lanes>(params, product, rows, columns.first, group, tile_results);
      if constexpr (Subtile == kDown * kAcross - 1) Epilogue::template write_tile<Lanes>(params, product, tile_results);
    }
  }

  // Applies the epilogue to two neighbors: the lane's columns of the octet that begins at column
  // `n` of the part.
  template <int Down>
  __device__ __forceinline__ Neighbours apply(Accumulators const& accumulators, Pair const& source, Compute const (&scalar)[8], Operands& operands, int n, int lower) const {
    int const first = n % Mma::kN / kOctet * 4 + 2 * lower, w = n % Config::kSubtileColumns / kOctet * 2;
    if constexpr (Config::kGated) {
      Neighbours two;
#pragma unroll
      for (int i = 0; i < 2; ++i) two.element[i] = Config::Epilogue::apply(gates_of(accumulators[Down], n, 2 * lower + i), convert<Compute>(source.element[i]), scalar, operands, lower, w + i);
      return two;
    } else {
      auto const& from = accumulators[Down][n / Mma::kN];
      return apply({accumulator(from, first), accumulator(from, first + 1)}, source, scalar, operands, {lower, w}, row + Down * Map::kRows + warp::warpgroup_row<Config::kFragmentRows>(thread, lower), column + n + thread % 4 * 2);
    }
  }

  // Returns the accumulators of both matrices of B for the lane's element `i` of the octet that
  // begins at column `n` of D's part.
  template <class Row>
  static __device__ __forceinline__ Gates<Compute> gates_of(Row const& row, int n, int i) {
    auto const of_column = [&](int column) { return convert<Compute>(accumulator(row[column / Mma::kN], column % Mma::kN / kOctet * 4 + i)); };
    return {of_column(n), of_column(n + kColumnsOfD)};
  }

  // Applies the epilogue to two accumulators in a row, for this column and the next. `within` is
  // the place of the first in `operands`.
  template <class Read>
  __device__ __forceinline__ Neighbours apply(Accumulator const (&accumulators)[2], Pair const& source, Compute const (&scalar)[8], Read& operands, int const (&within)[2], unsigned at_row, unsigned at_column) const {
    int shift[2] = {0, 0};
    if constexpr (Config::Emulation::kScales) shifts(shift, at_row, at_column);
    Neighbours two;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      two.element[i] = Config::Epilogue::apply(convert<Compute>(unscaled(accumulators[i], shift[i])), convert<Compute>(source.element[i]), scalar, operands, within[0], within[1] + i);
    return two;
  }

  // Returns the exponents by which two neighbors of D are scaled back if rows of A and columns of B
  // were scaled. They are 0 outside, and if nothing was decomposed because A and B are not read.
  __device__ __forceinline__ void shifts(int (&shift)[2], unsigned m, unsigned n) const {
    if (params.lines[0] == 0) return;
    int const of_row = m < group.rows(params) ? lines<0>()[m].shift : 0;
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) shift[i] = of_row + (n + i < group.columns(params) ? lines<1>()[n + i].shift : 0);
  }

  // Returns the facts of the rows of A, or of the columns of B.
  template <int Number>
  __device__ __forceinline__ DecomposedLine const* lines() const {
    unsigned long long const first = params.lines[Number];
    return reinterpret_cast<DecomposedLine const*>(Config::kBatched ? first + product * params.stride_lines[Number] : first);
  }

  // Returns an accumulator without the scales.
  static __device__ __forceinline__ Accumulator unscaled(Accumulator accumulator, int shift) {
    if constexpr (Config::Emulation::kScales) {
      return numeric::unscaled(accumulator, shift);
    } else {
      return accumulator;
    }
  }

  // Reads the lane's two neighbors of C from global memory. Returns zeros outside, and if C is not
  // read.
  template <int Down, bool MayRead>
  __device__ __forceinline__ Pair read(int octet, int lower) const {
    Pair two{};
    unsigned const m = row + Down * Map::kRows + warp::warpgroup_row<Config::kFragmentRows>(thread, lower), n = column + octet + thread % 4 * 2;
    if (!MayRead || !params.reads_source || m >= group.rows(params)) return two;
    if constexpr (kPlaced) {
      for (unsigned i = 0; i < 2; ++i) two.element[i] = placed_source(m, n + i);
      return two;
    }
    C const* const matrix = threadblock::matrix_of_product<Config, 2, C const>(params, product, params.operands[0].address, params.operands[0].batch_stride);
    if constexpr (Config::kColumnMajor) {
#pragma unroll
      for (unsigned i = 0; i < 2; ++i)
        if (n + i < group.columns(params)) two.element[i] = matrix[(long long)(n + i) * params.operands[0].column_stride + m];
      return two;
    }
    long long pitch = params.operands[0].row_stride;
    // A thread with more than 128 accumulators has no registers for the addresses of its rows, so
    // each access computes its own.
    if constexpr (Config::kAccumulators > 128) index::forget(pitch);
    C const* const from = matrix + (long long)m * pitch + n;
    if constexpr (Config::kStoreAccess >= 2) {
      if (n < group.columns(params)) two = *reinterpret_cast<Pair const*>(from);
    } else {
#pragma unroll
      for (unsigned i = 0; i < 2; ++i)
        if (n + i < group.columns(params)) two.element[i] = from[i];
    }
    return two;
  }

  // Reads an element of C at the place of D's element. Returns zero outside.
  __device__ __forceinline__ C placed_source(unsigned m, unsigned n) const {
    if (m >= group.rows(params) || n >= group.columns(params)) return C{};
    threadblock::Place const place = threadblock::place_of<Config::kScatter>(params, m, n);
    if (!place.exists()) return C{};
    C const* const matrix = threadblock::matrix_of_product<Config, 2, C const>(params, product, params.operands[0].address, params.operands[0].batch_stride);
    return matrix[threadblock::offset_in_c<Config, bool(Config::kColumnMajor)>(params, place)];
  }

  // Reads two neighbors of C from a staging buffer.
  static __device__ __forceinline__ Pair staged(unsigned from) {
    Pair two;
    if constexpr (sizeof(C) == 4) {
      unsigned(&word)[2] = reinterpret_cast<unsigned(&)[2]>(two);
      asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "r"(from) : "memory");
    } else if constexpr (sizeof(C) == 2) {
      asm volatile("ld.shared.b32 %0, [%1];" : "=r"(reinterpret_cast<unsigned&>(two)) : "r"(from) : "memory");
    } else {
      asm volatile("ld.shared.b16 %0, [%1];" : "=h"(reinterpret_cast<unsigned short&>(two)) : "r"(from) : "memory");
    }
    return two;
  }

  // Reads two elements of C, of 1 or 4 bytes.
  static __device__ __forceinline__ Pair staged(unsigned const (&from)[2]) {
    Pair two;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned word;
      if constexpr (sizeof(C) == 1) {
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(word) : "r"(from[i]) : "memory");
        reinterpret_cast<unsigned char&>(two.element[i]) = (unsigned char)word;
      } else {
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(from[i]) : "memory");
        reinterpret_cast<unsigned&>(two.element[i]) = word;
      }
    }
    return two;
  }

  // Returns two 16-bit neighbors from one word.
  static __device__ __forceinline__ Pair pair(unsigned word) { return {{C{(unsigned short)word}, C{(unsigned short)(word >> 16)}}}; }

  // Returns the address, opaque to the compiler in each subtile. Keeping the addresses of all
  // subtiles would take registers from the accumulators.
  static __device__ __forceinline__ unsigned alone(unsigned address) {
    asm volatile("" : "+r"(address));
    return address;
  }

  static __device__ __forceinline__ unsigned bits(float x) { return __float_as_uint(x); }
  static __device__ __forceinline__ unsigned bits(int x) { return x; }
  template <class Byte>
  static __device__ __forceinline__ unsigned short halves(Vector<Byte, 2> const& two) {
    return (unsigned short)(byte_of(two.element[0]) | byte_of(two.element[1]) << 8);
  }
  template <class Byte>
  static __device__ __forceinline__ unsigned char byte_of(Byte const& element) { return reinterpret_cast<unsigned char const&>(element); }

  template <class Access>
  static __device__ __forceinline__ Access shared(unsigned from) {
    return *reinterpret_cast<Access const*>(__cvta_shared_to_generic(from));
  }
};

}  // namespace epilogue
