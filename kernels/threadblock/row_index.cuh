// Twin of src/threadblock/row_index.rs: index lists, which select the lines of A, B, or D that a
// kernel accesses. A line is a row of A, a column of B, or a row or column of D.
#pragma once
#include "numeric.cuh"

namespace threadblock {

// Axis of D whose lines an index list selects.
enum class Scatter { None, M, N };

// Line that does not exist.
constexpr unsigned kNoLine = 0xffffffffu;

// Returns line `i` of a list, an IndexParams, or kNoLine for an index beyond the matrix.
template <class List>
__device__ __forceinline__ unsigned indexed_line(List const& list, unsigned i) {
  unsigned const line = __ldg(reinterpret_cast<unsigned const*>(list.address) + i);
  return line < list.extent ? line : kNoLine;
}

// Place of an element in memory.
struct Place {
  unsigned row, column;
  __device__ __forceinline__ bool exists() const { return row != kNoLine && column != kNoLine; }
};

// Returns the place of an element of D, of C, and of auxiliary matrices. The element lies in the
// kernel's D.
template <Scatter Axis, class Params>
__device__ __forceinline__ Place place_of(Params const& params, unsigned row, unsigned column) {
  if constexpr (Axis == Scatter::M) row = indexed_line(params.indices[2], row);
  if constexpr (Axis == Scatter::N) column = indexed_line(params.indices[2], column);
  return {row, column};
}

// Whether threads store D element by element or line by line, at places that an index list or two
// strides select.
template <class Config>
constexpr bool kPlaced = Config::kScatter != Scatter::None || Config::kStrided;

// Returns the offset of a place in C (Number 0) or D (1), whose rows and columns are in groups.
// Without a split, one group has all of them.
template <int Number, class Params>
__device__ __forceinline__ long long split_offset(Params const& params, Place const& place, long long row_stride, long long column_stride) {
  unsigned const(&extent)[2] = params.split_extents[Number];
  long long const(&outer)[2] = params.outer_strides[Number];
  return place.row / extent[0] * outer[0] + place.row % extent[0] * row_stride + place.column / extent[1] * outer[1] + place.column % extent[1] * column_stride;
}

// Returns the offset of a place in D, whose elements have pitch `ldd` or two strides.
template <class Config, bool ColumnMajor, class Params>
__device__ __forceinline__ long long offset_in_d(Params const& params, Place const& place) {
  if constexpr (Config::kStrided) return split_offset<1>(params, place, params.strides_d[0], params.strides_d[1]);
  return ColumnMajor ? place.column * params.ldd + place.row : place.row * params.ldd + place.column;
}

// Returns the offset of a place in C.
template <class Config, bool ColumnMajor, class Params>
__device__ __forceinline__ long long offset_in_c(Params const& params, Place const& place) {
  auto const& c = params.operands[0];
  if constexpr (Config::kStrided) return split_offset<0>(params, place, c.row_stride, c.column_stride);
  return ColumnMajor ? place.column * c.column_stride + place.row : place.row * c.row_stride + place.column;
}

}  // namespace threadblock
