// Twin of src/epilogue/operands.rs: reads the operands of an epilogue, except C, for a thread's
// elements of D.
#pragma once
#include "numeric.cuh"
#include "threadblock/row_index.cuh"

namespace epilogue {

// Accumulators of both columns of B that a gate combines.
template <class Number>
struct Gates {
  Number gate, up;
};

// Range of rows or columns.
struct Range {
  unsigned begin, end;
  __device__ __forceinline__ bool has(unsigned line) const { return begin <= line && line < end; }
};

// Coordinates of some rows or columns, as distances from the first. The first and the last are the
// least and the greatest, in either order.
template <int Count>
struct Coordinates {
  unsigned first;
  int distance[Count];
  __device__ __forceinline__ unsigned operator[](int i) const { return first + distance[i]; }
  __device__ __forceinline__ bool all_before(unsigned limit) const { return first < limit && (*this)[Count - 1] < limit; }
  __device__ __forceinline__ bool all_in(Range const& range) const { return range.has(first) && range.has((*this)[Count - 1]); }
};

// Reads elements of a vector of `length` elements in global memory, an operand of the epilogue.
// Reads 0 beyond its end, and from a vector that is not read, whose address is 0.
template <class From, class To, int Count, class Operand>
__device__ __forceinline__ void read_vector(To (&to)[Count], Operand const& vector, Coordinates<Count> const& at, unsigned length) {
  From const* const from = reinterpret_cast<From const*>(vector.address) + at.first;
  if (Count > 1 && vector.address != 0 && at.all_before(length)) {
    // Loads at constant distances without checks take one instruction each.
#pragma unroll
    for (int i = 0; i < Count; ++i) to[i] = convert<To>(from[at.distance[i]]);
  } else {
#pragma unroll
    for (int i = 0; i < Count; ++i) to[i] = vector.address != 0 && at[i] < length ? convert<To>(from[at.distance[i]]) : To(0);
  }
}

// Reads a scalar in global memory, which has one value per GEMM, or one for all. Reads 0 if the
// scalar is not read.
template <class From, class To, class Operand>
__device__ __forceinline__ void read_scalar(To& to, Operand const& scalar, unsigned product) {
  to = scalar.address != 0 ? convert<To>(reinterpret_cast<From const*>(scalar.address)[(long long)product * scalar.batch_stride]) : To(0);
}

// Reads a block of a matrix beside D, an operand of the epilogue. Reads 0 outside of D, and from a
// matrix that is not read.
template <class From, class To, int Rows, int Columns, class Operand, class Params>
__device__ __forceinline__ void read_matrix(To (&to)[Rows][Columns], Operand const& matrix, unsigned product, Coordinates<Rows> const& rows, Coordinates<Columns> const& columns, Params const& params) {
  From const* const first = reinterpret_cast<From const*>(matrix.address) + (long long)product * matrix.batch_stride + (long long)columns.first * matrix.column_stride;
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    From const* const from = first + (long long)rows[i] * matrix.row_stride;
    if (Columns > 1 && matrix.address != 0 && matrix.column_stride == 1 && rows[i] < unsigned(params.m) && columns.all_before(params.n)) {
#pragma unroll
      for (int j = 0; j < Columns; ++j) to[i][j] = convert<To>(from[columns.distance[j]]);
    } else {
#pragma unroll
      for (int j = 0; j < Columns; ++j) {
        bool const inside = matrix.address != 0 && rows[i] < unsigned(params.m) && columns[j] < unsigned(params.n);
        to[i][j] = inside ? convert<To>(from[columns.distance[j] * matrix.column_stride]) : To(0);
      }
    }
  }
}

// Reads a block of a matrix beside D, as read_matrix does, at the places of D's elements.
template <class From, threadblock::Scatter Axis, class To, int Rows, int Columns, class Operand, class Params>
__device__ __forceinline__ void read_scattered(To (&to)[Rows][Columns], Operand const& matrix, unsigned product, Coordinates<Rows> const& rows, Coordinates<Columns> const& columns, Params const& params) {
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int j = 0; j < Columns; ++j) {
      to[i][j] = To(0);
      if (matrix.address == 0 || rows[i] >= unsigned(params.m) || columns[j] >= unsigned(params.n)) continue;
      threadblock::Place const place = threadblock::place_of<Axis>(params, rows[i], columns[j]);
      if (!place.exists()) continue;
      long long const at = (long long)product * matrix.batch_stride + (long long)place.row * matrix.row_stride + (long long)place.column * matrix.column_stride;
      to[i][j] = convert<To>(reinterpret_cast<From const*>(matrix.address)[at]);
    }
}

}  // namespace epilogue
