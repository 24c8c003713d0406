// Twin of src/epilogue/tensor_store/reduction.rs: the second kernel of parallel split-K for
// warpgroup kernels.
// epilogue/tile_store.cuh has it for the other kernels.
#pragma once
#include "epilogue/partials.cuh"
#include "epilogue/tensor_store.cuh"

namespace epilogue {

// Direct store of the accumulators of an octet of columns, which begins at `row` and `column`, to
// D.
template <class Config, class Params>
struct OctetStore : TensorStore<Config, Params> {
  using Base = TensorStore<Config, Params>;
  using Base::Base;
  using typename Base::Access;
  using typename Base::C;
  using typename Base::Compute;
  using typename Base::Pair;

  // Applies the epilogue to the thread's four accumulators and stores them.
  __device__ __forceinline__ void store(typename Config::Accumulator const (&four)[4]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned const lanes = this->thread % 4 * 2;
      if constexpr (Access::kInColumns) {
        unsigned const m = this->row + warp::warpgroup_row<Config::kFragmentRows>(this->thread, 0), n = this->column + lanes + i;
        Pair const source = this->template read_column<0, true>(lanes + i);
        Coordinates<2> const rows{m, {0, 1}};
        Coordinates<1> const columns{n, {0}};
        typename Config::Epilogue::template Operands<2, 1> operands(this->params, this->product, rows, columns);
        Compute two[2];
#pragma unroll
        for (int lower = 0; lower < 2; ++lower) two[lower] = Config::Epilogue::apply(convert<Compute>(four[2 * lower + i]), convert<Compute>(source.element[lower]), this->scalars, operands, lower, 0);
        write(m, n, two);
        write_results(operands, rows, columns);
      } else {
        unsigned const m = this->row + warp::warpgroup_row<Config::kFragmentRows>(this->thread, i), n = this->column + lanes;
        Pair const source = this->template read<0, true>(0, i);
        Coordinates<1> const rows{m, {0}};
        Coordinates<2> const columns{n, {0, 1}};
        typename Config::Epilogue::template Operands<1, 2> operands(this->params, this->product, rows, columns);
        write(m, n, this->apply({four[2 * i], four[2 * i + 1]}, source, this->scalars, operands, {0, 0}, m, n).element);
        write_results(operands, rows, columns);
      }
    }
  }

 private:
  // Distance of a thread's column from its first.
  struct Neighbors {
    static __device__ __forceinline__ constexpr int at(int j) { return j; }
  };

  // Writes the results of the epilogue beside D for the thread's elements of an octet.
  template <class Operands, int Rows, int Columns>
  __device__ __forceinline__ void write_results(Operands const& operands, Coordinates<Rows> const& rows, Coordinates<Columns> const& columns) const {
    using Epilogue = typename Config::Epilogue;
    if constexpr (Epilogue::kWrites) {
      typename Epilogue::template TileResults<Rows, Columns, Columns> tile_results;
      operands.write(this->params, this->product, ResultElements<Rows, Columns>(rows, columns, this->group, this->params), tile_results, 0, 0);
      Epilogue::template write_rows<UnsharedLines>(this->params, this->product, rows, columns.first, this->group, tile_results);
      Epilogue::template write_columns<UnsharedLines, Neighbors>(this->params, this->product, rows.first, columns.first, ColumnStep<Columns, true, true>{0, 0}, this->group, tile_results);
      Epilogue::template write_tile<UnsharedLines>(this->params, this->product, tile_results);
    }
  }

  // Writes two neighbors, as far as they lie within D.
  __device__ __forceinline__ void write(unsigned m, unsigned n, Compute const (&two)[2]) const {
    auto const& params = this->params;
    unsigned const rows = this->group.rows(params), columns = this->group.columns(params);
    if (m >= rows || n >= columns) return;
    if constexpr (Base::kPlaced) {
#pragma unroll
      for (unsigned i = 0; i < 2; ++i) write_placed(Access::kInColumns ? m + i : m, Access::kInColumns ? n : n + i, two[i]);
      return;
    }
    C* const d = threadblock::matrix_of_product<Config, 3, C>(params, this->product, params.d, params.stride_d) + (Config::kColumnMajor ? (long long)n * params.ldd + m : (long long)m * params.ldd + n);
    constexpr bool beside = Access::kInColumns == bool(Config::kColumnMajor);
    if constexpr (beside && Config::kStoreAccess >= 2) {
      *reinterpret_cast<Pair*>(d) = Pair{{convert<C>(two[0]), convert<C>(two[1])}};
    } else {
#pragma unroll
      for (unsigned i = 0; i < 2; ++i)
        if (Access::kInColumns ? m + i < rows : n + i < columns) d[beside ? i : i * params.ldd] = convert<C>(two[i]);
    }
  }

  // Writes an element of D to the place that an index list or two strides select.
  __device__ __forceinline__ void write_placed(unsigned m, unsigned n, Compute computed) const {
    auto const& params = this->params;
    if (m >= this->group.rows(params) || n >= this->group.columns(params)) return;
    threadblock::Place const place = threadblock::place_of<Config::kScatter>(params, m, n);
    if (!place.exists()) return;
    C* const d = threadblock::matrix_of_product<Config, 3, C>(params, this->product, params.d, params.stride_d);
    d[threadblock::offset_in_d<Config, bool(Config::kColumnMajor)>(params, place)] = convert<C>(computed);
  }
};

// Block of a warpgroup that adds one octet of all slices of a consumer's share of a tile, four
// accumulators per thread, and stores it.
template <class Config>
struct ReduceOctets {
  using Mma = typename Config::Mma;
  using Slots = Partials<Config>;
  static constexpr int kThreads = warp::kWarpgroup;
  // Octets per share, and per instruction tile.
  static constexpr unsigned kOctets = Slots::kCount / Slots::kTogether, kOfInstruction = Mma::kM * Mma::kN / kThreads / Slots::kTogether;
  static constexpr unsigned kBlocks = kOctets * Slots::kSharing;

  template <class Params>
  static __device__ __forceinline__ void run(Params const& params) {
    using Store = OctetStore<Config, Params>;
    constexpr unsigned cluster = Config::kClusterM * Config::kClusterN;
    unsigned const octet = blockIdx.x % kOctets, share = blockIdx.x / kOctets % Slots::kSharing, number = blockIdx.x / kBlocks;
    threadblock::Unit<Config> const unit = threadblock::unit_of_rank<Config>(number / cluster, number % cluster, params.tiles_m, params.tiles_n, {0, number});
    auto const sum = Slots::sum(Slots::slots_of(params, unit, share), unit.slices(params), threadIdx.x, octet * Slots::kTogether);
    Store store(params, threadIdx.x, 0);
    unsigned const instruction = octet / kOfInstruction;
    store.row = unit.row() + Store::consumer_row(share) + instruction / Config::kRepeatsN * Mma::kM;
    store.column = unit.column() + Store::consumer_column(share) + instruction % Config::kRepeatsN * Mma::kN + octet % kOfInstruction * Store::kOctet;
    store.product = unit.product;
    store.group = unit;
    typename Config::Accumulator four[Slots::kTogether];
#pragma unroll
    for (int i = 0; i < Slots::kTogether; ++i) four[i] = convert<typename Config::Accumulator>(sum.element[i]);
    store.store(four);
  }
};

}  // namespace epilogue
