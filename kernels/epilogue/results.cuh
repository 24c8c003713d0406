// Twin of src/epilogue/results.rs: writes the results of an epilogue beside D, for a thread's
// elements of D.
#pragma once
#include "epilogue/math.cuh"
#include "epilogue/operands.cuh"
#include "numeric.cuh"
#include "threadblock/row_index.cuh"

namespace epilogue {

// Lanes of a warp that hold elements of the same rows, which are neighbors, and of the same
// columns, which are kRows apart. If lanes share lines, all lanes of the warp must call the
// functions below together.
template <int Rows, int Columns>
struct SharedLines {
  static constexpr int kRows = Rows, kColumns = Columns;
};
// Lines that no two lanes are known to share.
using UnsharedLines = SharedLines<1, 1>;

// Elements of D that a thread writes results for: rows and columns, and whether each is in D and in
// the group.
template <int Rows, int Columns>
struct ResultElements {
  Coordinates<Rows> rows;
  Coordinates<Columns> columns;
  bool has_row[Rows], has_column[Columns], has_all;

  template <class Lines, class Params>
  __device__ __forceinline__ ResultElements(Coordinates<Rows> const& rows, Coordinates<Columns> const& columns, Lines const& lines, Params const& params) : rows(rows), columns(columns), has_all(true) {
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      has_row[i] = rows[i] < lines.rows(params) && lines.have_row(rows[i]);
      has_all = has_all && has_row[i];
    }
#pragma unroll
    for (int j = 0; j < Columns; ++j) {
      has_column[j] = columns[j] < lines.columns(params) && lines.have_column(columns[j]);
      has_all = has_all && has_column[j];
    }
  }

  __device__ __forceinline__ bool has(int i, int j) const { return has_row[i] && has_column[j]; }
};

// Writes values to a matrix beside D, at the places of D's elements.
template <class To, threadblock::Scatter Axis, class From, int Rows, int Columns, class Operand, class Params>
__device__ __forceinline__ void write_matrix(From const (&from)[Rows][Columns], Operand const& matrix, unsigned product, ResultElements<Rows, Columns> const& elements, Params const& params) {
  To* const to = reinterpret_cast<To*>(matrix.address) + (long long)product * matrix.batch_stride;
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

// --- maxima of absolute values ---

__device__ __forceinline__ unsigned bits_of_maximum(float x) { return __float_as_uint(x); }
__device__ __forceinline__ unsigned long long bits_of_maximum(double x) { return __double_as_longlong(x); }

// Replaces a number in global memory by the maximum of it and `maximum`, which is not negative, or
// NaN. The bits of such numbers are ordered as the numbers, and NaN is the greatest.
template <class Compute, class Operand>
__device__ __forceinline__ void join_maximum(Operand const& results, unsigned product, long long offset, Compute maximum) {
  auto const bits = bits_of_maximum(maximum);
  auto* const to = reinterpret_cast<decltype(bits_of_maximum(Compute()))*>(results.address) + (long long)product * results.batch_stride + offset;
  atomicMax(to, bits);
}

// Adds absolute values to maxima per row of the thread.
template <class Compute, int Rows, int Columns>
__device__ __forceinline__ void add_row_maxima(Compute (&maxima)[Rows], Compute const (&from)[Rows][Columns], ResultElements<Rows, Columns> const& elements) {
  if (elements.has_all) {
#pragma unroll
    for (int i = 0; i < Rows; ++i)
#pragma unroll
      for (int j = 0; j < Columns; ++j) maxima[i] = math::max(maxima[i], math::abs(from[i][j]));
    return;
  }
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int j = 0; j < Columns; ++j)
      if (elements.has(i, j)) maxima[i] = math::max(maxima[i], math::abs(from[i][j]));
}

// Adds absolute values to the maximum of the thread.
template <class Compute, int Rows, int Columns>
__device__ __forceinline__ void add_maximum(Compute& maximum, Compute const (&from)[Rows][Columns], ResultElements<Rows, Columns> const& elements) {
  Compute maxima[Rows];
#pragma unroll
  for (int i = 0; i < Rows; ++i) maxima[i] = maximum;
  add_row_maxima(maxima, from, elements);
#pragma unroll
  for (int i = 0; i < Rows; ++i) maximum = math::max(maximum, maxima[i]);
}

// Writes the maxima of the thread's rows, and sets them to 0.
template <class Shared, class Compute, int Rows, class Operand, class Params, class Lines>
__device__ __forceinline__ void write_row_maxima(Compute (&maxima)[Rows], Operand const& results, unsigned product, Coordinates<Rows> const& rows, Lines const& lines, Params const& params) {
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
#pragma unroll
    for (int lane = 1; lane < Shared::kRows; lane *= 2) maxima[i] = math::max(maxima[i], __shfl_xor_sync(0xffffffffu, maxima[i], lane));
    bool const writes = threadIdx.x % Shared::kRows == 0 && rows[i] < lines.rows(params) && lines.have_row(rows[i]);
    if (writes) join_maximum(results, product, rows[i], maxima[i]);
    maxima[i] = Compute(0);
  }
}

// Maxima of some columns, which lanes `Stride`, 2 * `Stride`, .. apart share.
template <int Stride, int End, int Count>
struct ColumnMaxima {
  // Joins the maxima of the lanes, and writes each of them once. In each step, a lane keeps half of
  // its columns and sends the other half, as long as their number is even. `has[j]` is whether
  // column `at[j]` exists, and `writes` is whether no other lane holds the same columns.
  template <class Compute, class Operand>
  static __device__ __forceinline__ void write(Compute const (&maxima)[Count], unsigned const (&at)[Count], bool const (&has)[Count], bool writes, Operand const& results, unsigned product) {
    if constexpr (Stride >= End) {
#pragma unroll
      for (int j = 0; j < Count; ++j)
        if (writes && has[j]) join_maximum(results, product, at[j], maxima[j]);
    } else {
      constexpr bool halves = Count % 2 == 0;
      constexpr int kept = halves ? Count / 2 : Count, beyond = Count - kept;
      bool const upper = threadIdx.x / Stride % 2 == 1;
      Compute joined[kept];
      unsigned joined_at[kept];
      bool joined_has[kept];
#pragma unroll
      for (int j = 0; j < kept; ++j) {
        bool const last = halves && upper;
        Compute const other = halves && !upper ? maxima[j + beyond] : maxima[j];
        joined[j] = math::max(last ? maxima[j + beyond] : maxima[j], __shfl_xor_sync(0xffffffffu, other, Stride));
        joined_at[j] = last ? at[j + beyond] : at[j];
        joined_has[j] = last ? has[j + beyond] : has[j];
      }
      ColumnMaxima<2 * Stride, End, kept>::write(joined, joined_at, joined_has, writes && (halves || !upper), results, product);
    }
  }
};

// Writes the maxima of absolute values in each of the thread's columns.
template <class Shared, class Compute, int Rows, int Columns, class Operand>
__device__ __forceinline__ void write_column_maxima(Compute const (&from)[Rows][Columns], Operand const& results, unsigned product, ResultElements<Rows, Columns> const& elements) {
  Compute maxima[Columns];
  unsigned at[Columns];
#pragma unroll
  for (int j = 0; j < Columns; ++j) {
    maxima[j] = Compute(0);
    at[j] = elements.columns[j];
#pragma unroll
    for (int i = 0; i < Rows; ++i)
      if (elements.has_row[i]) maxima[j] = math::max(maxima[j], math::abs(from[i][j]));
  }
  ColumnMaxima<Shared::kRows, Shared::kRows * Shared::kColumns, Columns>::write(maxima, at, elements.has_column, true, results, product);
}

// Writes the maximum of the thread, and sets it to 0.
template <class Shared, class Compute, class Operand>
__device__ __forceinline__ void write_maximum(Compute& maximum, Operand const& results, unsigned product) {
  constexpr int lanes = Shared::kRows * Shared::kColumns;
#pragma unroll
  for (int lane = 1; lane < lanes; lane *= 2) maximum = math::max(maximum, __shfl_xor_sync(0xffffffffu, maximum, lane));
  if (threadIdx.x % lanes == 0) join_maximum(results, product, 0, maximum);
  maximum = Compute(0);
}

}  // namespace epilogue
