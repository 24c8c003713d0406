// Twin of src/epilogue/results.rs: writes the results of an epilogue beside D, for a thread's
// elements of D.
#pragma once
#include "epilogue/lanes.cuh"
#include "epilogue/math.cuh"
#include "epilogue/operands.cuh"
#include "layout/index_map.cuh"
#include "numeric.cuh"
#include "threadblock/row_index.cuh"
#include "warp/quad_transpose.cuh"

namespace epilogue {

// Elements of D that a thread writes results for: rows and columns, and whether each is in D and in
// the group.
template <int Rows, int Columns>
struct ResultElements {
  Coordinates<Rows> rows;
  Coordinates<Columns> columns;
  Range of_rows, of_columns;
  bool has_all;

  template <class Lines, class Params>
  __device__ __forceinline__ ResultElements(Coordinates<Rows> const& rows, Coordinates<Columns> const& columns, Lines const& lines, Params const& params)
      : rows(rows), columns(columns), of_rows{lines.least_row(), lines.rows(params)}, of_columns{lines.least_column(), lines.columns(params)}, has_all(rows.all_in(of_rows) && columns.all_in(of_columns)) {}

  __device__ __forceinline__ bool has_row(int i) const { return of_rows.has(rows[i]); }
  __device__ __forceinline__ bool has_column(int j) const { return of_columns.has(columns[j]); }
  __device__ __forceinline__ bool has(int i, int j) const { return has_row(i) && has_column(j); }
};

// Returns the octets of columns of an exchange, for a lane with `Columns` columns: as many as a
// store of 16 bytes and the columns allow.
template <class To, int Columns>
constexpr int octets_per_exchange() {
  int octets = 4;
  while (octets > 1 && (octets * 2 * sizeof(To) > 16 || Columns / 2 % octets != 0)) octets /= 2;
  return octets;
}

// Stores of a quad's lanes, which have `Columns` columns in each of `Rows` rows. If they can, the
// lanes exchange their pairs of neighbors first, so that each store takes more neighbors.
template <class To, int Rows, int Columns>
struct QuadStores {
  static constexpr int kOctets = octets_per_exchange<To, Columns>();
  using Exchange = warp::QuadTranspose<kOctets>;
  static constexpr int kRun = Exchange::kRun, kBytes = kRun * sizeof(To);
  using Pair = Packed<2 * sizeof(To)>;
  static constexpr int kWords = sizeof(Pair) / Pair::kWordBytes;
  using Elements = ResultElements<Rows, Columns>;

  // Pairs of neighbors, converted. They need fewer registers than the values. A pair of bytes is in
  // the low half of a word.
  unsigned pairs[Rows][Columns / 2][kWords];

  template <class From>
  __device__ __forceinline__ explicit QuadStores(From const (&from)[Rows][Columns]) {
#pragma unroll
    for (int i = 0; i < Rows; ++i)
#pragma unroll
      for (int j = 0; j < Columns / 2; ++j) {
        From const two[2] = {from[i][2 * j], from[i][2 * j + 1]};
        Vector<To, 2> const pair = converted<To>(two);
#pragma unroll
        for (int word = 0; word < kWords; ++word) pairs[i][j][word] = reinterpret_cast<Pair const&>(pair).word[word];
      }
  }

  // Stores the elements that exist. `to` is the first element of the matrix. All lanes of the warp
  // call the function, because lanes whose rows do not exist also take part in the exchange.
  template <class Operand>
  __device__ __forceinline__ void write(To* to, Operand const& matrix, Elements const& elements) const {
    unsigned const lane = threadIdx.x % 4;
    long long const pitch = matrix.row_stride;
    To* const first = to + (long long)elements.columns.first;
    To* const exchanged = first - 2 * int(lane) + Exchange::first(lane);
    // The columns that exist are a range, so all exist if the first and the last do. Checks of all
    // would keep their numbers in registers.
    bool const has_columns = matrix.column_stride == 1 && elements.columns.all_in(elements.of_columns);
    bool const wide = has_columns && pitch % kRun == 0 && is_aligned<kBytes>(exchanged);
    if (__all_sync(0xffffffffu, wide)) {
#pragma unroll
      for (int j = 0; j < Columns / 2; j += kOctets)
#pragma unroll
        for (int i = 0; i < Rows; ++i) {
          unsigned moved[kOctets][kWords];
#pragma unroll
          for (int pair = 0; pair < kOctets; ++pair)
#pragma unroll
            for (int word = 0; word < kWords; ++word) moved[pair][word] = pairs[i][j + pair][word];
          Exchange::exchange(moved, lane);
          if (elements.has_row(i)) store(exchanged + elements.rows[i] * pitch + elements.columns.distance[2 * j], joined(moved));
        }
      return;
    }
    bool const in_pairs = has_columns && pitch % 2 == 0 && is_aligned<sizeof(Pair)>(first);
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      if (!elements.has_row(i)) continue;
#pragma unroll
      for (int j = 0; j < Columns / 2; ++j) {
        Pair pair;
#pragma unroll
        for (int word = 0; word < kWords; ++word) pair.word[word] = pairs[i][j][word];
        To* const row = to + elements.rows[i] * pitch;
        if (in_pairs) {
          *reinterpret_cast<Pair*>(row + elements.columns[2 * j]) = pair;
        } else {
#pragma unroll
          for (int l = 0; l < 2; ++l)
            if (elements.has_column(2 * j + l)) row[elements.columns[2 * j + l] * matrix.column_stride] = reinterpret_cast<Vector<To, 2> const&>(pair).element[l];
        }
      }
    }
  }

 private:
  template <int Bytes>
  static __device__ __forceinline__ bool is_aligned(To const* to) { return reinterpret_cast<unsigned long long>(to) % Bytes == 0; }

  // Stores neighbors in one access. The compiler splits some stores of a struct.
  static __device__ __forceinline__ void store(To* to, Packed<kBytes> const& bytes) {
    if constexpr (kBytes == 16) {
      asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(bytes.word[0]), "r"(bytes.word[1]), "r"(bytes.word[2]), "r"(bytes.word[3]) : "memory");
    } else if constexpr (kBytes == 8) {
      asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(bytes.word[0]), "r"(bytes.word[1]) : "memory");
    } else {
      asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(bytes.word[0]) : "memory");
    }
  }

  // Returns the pairs as the bytes of a store.
  static __device__ __forceinline__ Packed<kBytes> joined(unsigned const (&moved)[kOctets][kWords]) {
    Packed<kBytes> bytes;
#pragma unroll
    for (int pair = 0; pair < kOctets; ++pair) {
      if constexpr (sizeof(To) == 1) {
        if (pair % 2 == 0) bytes.word[pair / 2] = moved[pair][0] | moved[pair + 1][0] << 16;
      } else {
#pragma unroll
        for (int word = 0; word < kWords; ++word) bytes.word[pair * kWords + word] = moved[pair][word];
      }
    }
    return bytes;
  }
};

// Writes values to a matrix beside D, at the places of D's elements. If `Lanes` has quads, all
// lanes of the warp call the function together.
template <class To, threadblock::Scatter Axis, class Lanes, class From, int Rows, int Columns, class Operand, class Params>
__device__ __forceinline__ void write_matrix(From const (&from)[Rows][Columns], Operand const& matrix, unsigned product, ResultElements<Rows, Columns> const& elements, Params const& params) {
  To* const to = reinterpret_cast<To*>(matrix.address) + (long long)product * matrix.batch_stride;
  if constexpr (Axis == threadblock::Scatter::None && Lanes::kQuads && octets_per_exchange<To, Columns>() > 1) {
    QuadStores<To, Rows, Columns>(from).write(to, matrix, elements);
    return;
  }
  Coordinates<Rows> const& rows = elements.rows;
  Coordinates<Columns> const& columns = elements.columns;
  if constexpr (Axis == threadblock::Scatter::None && Columns % 2 == 0) {
    // Pairs of neighbors take one store if they are aligned. If the first two columns are
    // neighbors, so are those of each pair.
    To* const first = to + (long long)columns.first;
    bool const pairs = elements.has_all && matrix.column_stride == 1 && matrix.row_stride % 2 == 0 && reinterpret_cast<unsigned long long>(first) % (2 * sizeof(To)) == 0;
    if (pairs && columns.distance[1] == 1) {
#pragma unroll
      for (int i = 0; i < Rows; ++i)
#pragma unroll
        for (int j = 0; j < Columns; j += 2)
          *reinterpret_cast<Vector<To, 2>*>(first + (long long)rows[i] * matrix.row_stride + columns.distance[j]) = {{convert<To>(from[i][j]), convert<To>(from[i][j + 1])}};
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int j = 0; j < Columns; ++j) {
      if (!elements.has(i, j)) continue;
      threadblock::Place const place = threadblock::place_of<Axis>(params, rows[i], columns[j]);
      if (place.exists()) to[(long long)place.row * matrix.row_stride + (long long)place.column * matrix.column_stride] = convert<To>(from[i][j]);
    }
}

// --- reductions ---

__device__ __forceinline__ unsigned bits_of_maximum(float x) { return __float_as_uint(x); }
__device__ __forceinline__ unsigned long long bits_of_maximum(double x) { return __double_as_longlong(x); }

// Maximum of absolute values. `write` joins it with the number in global memory: the bits of
// numbers that are not negative are ordered as the numbers, and NaN is the greatest.
struct Maximum {
  template <class Compute>
  static __device__ __forceinline__ Compute add(Compute so_far, Compute x) { return math::max(so_far, math::abs(x)); }
  template <class Compute>
  static __device__ __forceinline__ Compute join(Compute a, Compute b) { return math::max(a, b); }
  template <class Compute, class Operand>
  static __device__ __forceinline__ void write(Operand const& results, unsigned product, unsigned, unsigned line, Compute maximum) {
    auto* const to = reinterpret_cast<decltype(bits_of_maximum(Compute()))*>(results.address) + (long long)product * results.batch_stride + line;
    atomicMax(to, bits_of_maximum(maximum));
  }
};

// Sum of a part of a line. `write` stores it to the workspace, and a second kernel adds the parts.
// A warp tile outside of D has no part.
struct Total {
  template <class Compute>
  static __device__ __forceinline__ Compute add(Compute so_far, Compute x) { return math::add(so_far, x); }
  template <class Compute>
  static __device__ __forceinline__ Compute join(Compute a, Compute b) { return math::add(a, b); }
  template <class Compute, class Sum>
  static __device__ __forceinline__ void write(Sum const& sum, unsigned product, unsigned part, unsigned line, Compute total) {
    if (part < sum.parts) reinterpret_cast<Compute*>(sum.address)[product * sum.batch_stride + (unsigned long long)part * sum.lines + line] = total;
  }
};

// Sum of the squares of a part of a line.
struct TotalOfSquares : Total {
  template <class Compute>
  static __device__ __forceinline__ Compute add(Compute so_far, Compute x) { return mul_add(x, x, so_far); }
};

// Adds values to the reductions of the thread's rows, of which `from` has those from `row` on.
template <class Reduction, class Compute, int Count, int Rows, int Columns>
__device__ __forceinline__ void add_to_rows(Compute (&so_far)[Count], int row, Compute const (&from)[Rows][Columns], ResultElements<Rows, Columns> const& elements) {
  if (elements.has_all) {
#pragma unroll
    for (int i = 0; i < Rows; ++i)
#pragma unroll
      for (int j = 0; j < Columns; ++j) so_far[row + i] = Reduction::add(so_far[row + i], from[i][j]);
    return;
  }
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int j = 0; j < Columns; ++j)
      if (elements.has(i, j)) so_far[row + i] = Reduction::add(so_far[row + i], from[i][j]);
}

// Reductions of columns of a thread: those of the thread itself, and those that lanes have joined.
template <class Compute, int Columns, int Joined>
struct ColumnResults {
  Compute each[Columns] = {};
  Compute joined[Joined];
};

// Adds values to the reductions of the thread's columns, of which `from` has those from `column`
// on.
template <class Reduction, class Compute, int Count, int Joined, int Rows, int Columns>
__device__ __forceinline__ void add_to_columns(ColumnResults<Compute, Count, Joined>& so_far, int column, Compute const (&from)[Rows][Columns], ResultElements<Rows, Columns> const& elements) {
#pragma unroll
  for (int j = 0; j < Columns; ++j)
#pragma unroll
    for (int i = 0; i < Rows; ++i)
      if (elements.has_row(i)) so_far.each[column + j] = Reduction::add(so_far.each[column + j], from[i][j]);
}

// Adds values to the maximum of the thread.
template <class Compute, int Rows, int Columns>
__device__ __forceinline__ void add_to_maximum(Compute& so_far, Compute const (&from)[Rows][Columns], ResultElements<Rows, Columns> const& elements) {
  Compute maxima[Rows];
#pragma unroll
  for (int i = 0; i < Rows; ++i) maxima[i] = so_far;
  add_to_rows<Maximum>(maxima, 0, from, elements);
#pragma unroll
  for (int i = 0; i < Rows; ++i) so_far = math::max(so_far, maxima[i]);
}

// Joins and writes the reductions of the thread's rows, and sets them to 0. `column` is a column of
// the thread.
template <class Reduction, class Lanes, class Compute, int Rows, class Results, class Params, class Lines>
__device__ __forceinline__ void write_rows(Compute (&so_far)[Rows], Results const& results, unsigned product, Coordinates<Rows> const& rows, unsigned column, Lines const& lines, Params const& params) {
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
#pragma unroll
    for (int place = 1; place < Lanes::kAcross; place *= 2) so_far[i] = Reduction::join(so_far[i], __shfl_xor_sync(0xffffffffu, so_far[i], Lanes::across(place)));
    Range const of_rows{lines.least_row(), lines.rows(params)};
    if (is_first_across<Lanes>() && of_rows.has(rows[i])) Reduction::write(results, product, Lanes::part_across(column), rows[i], so_far[i]);
    so_far[i] = Compute(0);
  }
}

// Joins reductions of columns that lanes share whose places along M differ in the bits from `Place`
// on. In each step, a lane keeps every second column and sends the others, as long as their number
// is even.
template <class Reduction, class Lanes, int Place, class Compute, int Count, int Joined>
__device__ __forceinline__ void join_columns(Compute const (&so_far)[Count], Compute (&joined)[Joined]) {
  if constexpr (Place >= Lanes::kDown) {
    static_assert(Joined == Count, "every step is done");
#pragma unroll
    for (int j = 0; j < Count; ++j) joined[j] = so_far[j];
  } else {
    constexpr bool halves = Count % 2 == 0;
    constexpr int kept = halves ? Count / 2 : Count;
    bool const upper = (threadIdx.x & Lanes::down(Place)) != 0;
    Compute own[kept];
#pragma unroll
    for (int j = 0; j < kept; ++j) {
      Compute const mine = halves ? (upper ? so_far[2 * j + 1] : so_far[2 * j]) : so_far[j];
      Compute const other = halves ? (upper ? so_far[2 * j] : so_far[2 * j + 1]) : so_far[j];
      own[j] = Reduction::join(mine, __shfl_xor_sync(0xffffffffu, other, Lanes::down(Place)));
    }
    join_columns<Reduction, Lanes, 2 * Place>(own, joined);
  }
}

// Columns whose reductions lanes join at once: `kCount` columns of a thread, from `first` on, in
// its rows of some instructions. `joined` is where their joined reductions begin among those of the
// tile. `kIsFirst` and `kIsLast` are whether the columns have no rows before and after these.
template <int Count, bool IsFirst, bool IsLast>
struct ColumnStep {
  static constexpr int kCount = Count;
  static constexpr bool kIsFirst = IsFirst, kIsLast = IsLast;
  int first, joined;
};

// Joins the reductions of a step's columns, and sets them to 0. Writes them after the last rows.
// `row` is a row of the thread, and `column` is its column to which `ColumnOf` adds the distance of
// another.
template <class Reduction, class Lanes, class ColumnOf, class Step, class Compute, int Columns, int Joined, class Results, class Params, class Lines>
__device__ __forceinline__ void write_columns(ColumnResults<Compute, Columns, Joined>& so_far, Step const& step, Results const& results, unsigned product, unsigned row, unsigned column, Lines const& lines, Params const& params) {
  using Remaining = JoinedColumns<Lanes, Step::kCount>;
  Compute some[Step::kCount], joined[Remaining::kCount];
#pragma unroll
  for (int j = 0; j < Step::kCount; ++j) {
    some[j] = so_far.each[step.first + j];
    so_far.each[step.first + j] = Compute(0);
  }
  join_columns<Reduction, Lanes, 1>(some, joined);
  Range const columns{lines.least_column(), lines.columns(params)};
  unsigned const part = Lanes::part_down(row);
#pragma unroll
  for (int j = 0; j < Remaining::kCount; ++j) {
    Compute& total = so_far.joined[step.joined + j];
    total = Step::kIsFirst ? joined[j] : Reduction::join(total, joined[j]);
    if constexpr (Step::kIsLast) {
      unsigned const at = column + ColumnOf::at(Remaining::first(threadIdx.x) + j * Remaining::kStride);
      if (Remaining::writes(threadIdx.x) && columns.has(at)) Reduction::write(results, product, part, at, total);
    }
  }
}

// Joins and writes the maximum of the thread, and sets it to 0.
template <class Lanes, class Compute, class Results>
__device__ __forceinline__ void write_maximum(Compute& so_far, Results const& results, unsigned product) {
#pragma unroll
  for (int place = 1; place < Lanes::kAcross; place *= 2) so_far = math::max(so_far, __shfl_xor_sync(0xffffffffu, so_far, Lanes::across(place)));
#pragma unroll
  for (int place = 1; place < Lanes::kDown; place *= 2) so_far = math::max(so_far, __shfl_xor_sync(0xffffffffu, so_far, Lanes::down(place)));
  if (is_first_across<Lanes>() && is_first_down<Lanes>()) Maximum::write(results, product, 0, 0, so_far);
  so_far = Compute(0);
}

}  // namespace epilogue
