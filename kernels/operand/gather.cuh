// Twin of src/operand/gather.rs: copies the lines of a matrix that an index list selects, or whose
// lines or units are split in two modes. A unit is one access of kBytes bytes.
#pragma once
#include "config.cuh"
#include "layout/index_map.cuh"
#include "thread/access.cuh"

namespace pass {

// Consecutive threads copy consecutive units along the contiguous dimension of the copy: along a
// line, or across lines. A line whose index is beyond the matrix becomes zeros.
template <class Config, class Params>
__device__ __forceinline__ void gather(Params const& params) {
  index::BlockOfMatrix const at = index::block_of_matrix(params.tiles);
  // `fast` is the contiguous dimension of the copy.
  unsigned const fast = (at.block % params.tiles_across << params.log_units) + (threadIdx.x & ((1u << params.log_units) - 1));
  unsigned const slow = at.block / params.tiles_across * (Config::kThreads * Config::kSteps >> params.log_units) + (threadIdx.x >> params.log_units);
  char const* const source = reinterpret_cast<char const*>(params.source) + at.matrix * params.stride_source;
  char* const copy = reinterpret_cast<char*>(params.destination) + at.matrix * params.stride_copy;
  unsigned const* const indices = reinterpret_cast<unsigned const*>(params.indices);
  unsigned const fast_extent = params.by_lines ? params.lines : params.units, slow_extent = params.by_lines ? params.units : params.lines;
  if (fast >= fast_extent) return;
  thread::Words<Config::kBytes> value[Config::kSteps];
#pragma unroll
  for (unsigned step = 0; step < Config::kSteps; ++step) {
    unsigned const other = slow + step * (Config::kThreads >> params.log_units);
    value[step] = {};
    if (other >= slow_extent) continue;
    unsigned line = params.by_lines ? fast : other;
    unsigned const unit = params.by_lines ? other : fast;
    if (indices) line = indices[line];
    if (indices && line >= params.extent) continue;
    char const* const from = source + line / params.lines_of_group * params.source_group + line % params.lines_of_group * params.source_line;
    value[step] = thread::read<Config::kBytes, true>(from + unit / params.units_of_run * params.source_run + unit % params.units_of_run * params.source_unit);
  }
#pragma unroll
  for (unsigned step = 0; step < Config::kSteps; ++step) {
    unsigned const other = slow + step * (Config::kThreads >> params.log_units);
    if (other >= slow_extent) continue;
    unsigned const line = params.by_lines ? fast : other, unit = params.by_lines ? other : fast;
    thread::write<Config::kBytes, false>(copy + line * params.copy_line + unit * params.copy_unit, value[step]);
  }
}

}  // namespace pass
