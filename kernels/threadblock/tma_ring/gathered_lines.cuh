// Twin of src/threadblock/tma_ring/gathered_lines.rs: lines that the producer of a TMA ring
// gathers.
#pragma once
#include "layout/index_map.cuh"
#include "thread/access.cuh"
#include "threadblock/row_index.cuh"
#include "threadblock/work.cuh"

namespace threadblock {

// Map from (thread of the producer, step) to the offset of the thread's chunk in a stage's tile, in
// elements. Operand has the facts of its tile, and the map of the tile.
template <class Operand>
struct GatherMap {
  using Facts = typename Operand::Facts;
  static constexpr int kRows = 128;
  static constexpr int kChunk = 16 / Facts::kElementBytes;
  // Threads that copy one line, and lines that all threads copy per step.
  static constexpr int kLineThreads = Facts::kK / kChunk, kStep = kRows / kLineThreads;
  static constexpr int kColumns = (Facts::kMn + kStep - 1) / kStep;

  static __device__ __forceinline__ constexpr int mn(int thread, int step) { return thread / kLineThreads + step * kStep; }
  static __device__ __forceinline__ constexpr int k(int thread) { return thread % kLineThreads * kChunk; }
  // Returns whether the tile has the line.
  static __device__ __forceinline__ constexpr bool exists(int thread, int step) { return (step + 1) * kStep <= Facts::kMn || mn(thread, step) < Facts::kMn; }
  // Two parts of the offset: the thread's, and the compile-time distance of a step. The lines of a
  // step are whole periods of the swizzle behind those of the first one.
  static __device__ __forceinline__ constexpr unsigned first(int thread) { return Operand::Tile::at(mn(thread, 0), k(thread)); }
  static __device__ __forceinline__ constexpr unsigned further(int step) { return Operand::Tile::at(mn(0, step), 0); }
  static __device__ __forceinline__ constexpr unsigned at(int thread, int step) {
    return exists(thread, step) ? first(thread) + further(step) : index::kLeftOut;
  }
};

// Lines of operand Number that a thread of the producer copies for each k-tile of a tile of D.
template <class Config, class Operand, int Number>
struct GatheredLines {
  using Map = GatherMap<Operand>;
  static constexpr int kBytes = Operand::Facts::kElementBytes;

  // Places of the lines in the operand.
  unsigned line[Map::kColumns];
  // The thread's chunk of line 0, at k = 0.
  char const* first;

  // Loads the indices of the lines from `origin` on. Lines from `limit` on do not exist.
  template <class Params>
  __device__ __forceinline__ void load(Params const& params, unsigned product, unsigned origin, unsigned limit, int thread) {
    unsigned long long const address = Number == 0 ? params.a : params.b;
    long long const apart = (Number == 0 ? params.stride_a : params.stride_b) * kBytes;
    first = matrix_of<Config, char const>(product, address, apart) + Map::k(thread) * kBytes;
#pragma unroll
    for (int step = 0; step < Map::kColumns; ++step) {
      unsigned const i = origin + Map::mn(thread, step);
      line[step] = i < limit ? indexed_line(params.indices[Number], i) : kNoLine;
    }
  }

  // Starts the copies of the lines' elements from `k` on to the stage.
  template <class Params>
  __device__ __forceinline__ void copy(Params const& params, unsigned stage, int k, int thread) const {
    // Opaque to the compiler, which would otherwise keep the offset of each line in two registers.
    unsigned pitch = unsigned(Number == 0 ? params.lda : params.ldb) * kBytes;
    index::forget(pitch);
    bool const inside = k + Map::k(thread) < params.k;
    char const* const from = first + (long long)k * kBytes;
    unsigned const to = stage + Map::first(thread) * kBytes;
#pragma unroll
    for (int step = 0; step < Map::kColumns; ++step) {
      if (!Map::exists(thread, step)) continue;
      bool const read = inside && line[step] != kNoLine;
      thread::copy_async<16>(to + Map::further(step) * kBytes, from + (unsigned long long)line[step] * pitch, read);
    }
  }
};

// Operand that TMA copies.
struct NoLines {
  template <class Params>
  __device__ __forceinline__ void load(Params const&, unsigned, unsigned, unsigned, int) {}
};

template <class Config, class Operand, int Number, bool Gathered>
struct LinesOf {
  using Type = NoLines;
};
template <class Config, class Operand, int Number>
struct LinesOf<Config, Operand, Number, true> {
  using Type = GatheredLines<Config, Operand, Number>;
};

}  // namespace threadblock
