// Twin of lab/src/layout/cute_gemm: the naive GEMM of CuTe's tutorials. Every address is a layout
// of config.cuh at a coordinate.
#pragma once
#include "config.cuh"
#include "layout/index_map.cuh"
#include "layout.cuh"
#include "numeric.cuh"
#include "schedule.cuh"

namespace layout {

// One thread. The names are CuTe's: tAgA is the tile of A in global memory, partitioned for the
// copy of A. Layouts of global memory have the modes (block, thread, values), and layouts of shared
// memory (thread, values). tCrC is the layout of the thread's registers.
template <class Config>
struct CuteGemm {
  using Element = typename Config::Element;
  using tAgA = typename Config::tAgA;
  using tAsA = typename Config::tAsA;
  using tBgB = typename Config::tBgB;
  using tBsB = typename Config::tBsB;
  using tCsA = typename Config::tCsA;
  using tCsB = typename Config::tCsB;
  using tCgC = typename Config::tCgC;
  using tCrC = typename Config::tCrC;

  static constexpr unsigned kM = algebra::extent<0, tCrC>(), kN = algebra::extent<1, tCrC>();
  static constexpr unsigned kK = algebra::extent<1, algebra::ModeOf<1, tCsA>>();

  CuteGemmParams const& params;
  Element *sA, *sB;
  Element accumulators[tCrC::cosize(algebra::NoIntegers{})]{};
  unsigned tile = 0;

  // Address of the thread's part of a matrix, and of its part of a tile.
  template <class Part>
  __device__ __forceinline__ Element* global(algebra::Offset matrix) const {
    return reinterpret_cast<Element*>(matrix) + Part::offset(params.integers, blockIdx.x, threadIdx.x, 0u);
  }
  template <class Part>
  static __device__ __forceinline__ Element* shared(Element* tile) {
    return tile + Part::offset(algebra::NoIntegers{}, threadIdx.x, 0u);
  }

  // copy(from(_, _, tile), to). Nothing writes to A or B while the kernel runs, so that loads may
  // overtake stores.
  template <class From, class To>
  __device__ __forceinline__ void copy(Element const* from, Element* to) const {
    using Values = algebra::ModeOf<2, From>;
    using Stored = algebra::ModeOf<1, To>;
#pragma unroll 16
    for (unsigned j = 0; j < algebra::extent<1, Stored>(); ++j)
#pragma unroll 4
      for (unsigned i = 0; i < algebra::extent<0, Stored>(); ++i)
        to[Stored::offset(algebra::NoIntegers{}, i, j)] = __ldg(from + Values::offset(params.integers, i, j, tile));
  }

  // gemm(tCsA, tCsB, tCrC): the sum over k in its order, one fused multiply-add after the other.
  __device__ __forceinline__ void multiply(Element const* a, Element const* b) {
#pragma unroll 16
    for (unsigned k = 0; k < kK; ++k) {
      Element rows[kM], columns[kN];
#pragma unroll
      for (unsigned i = 0; i < kM; ++i) rows[i] = a[algebra::ModeOf<1, tCsA>::offset(algebra::NoIntegers{}, i, k)];
#pragma unroll
      for (unsigned j = 0; j < kN; ++j) columns[j] = b[algebra::ModeOf<1, tCsB>::offset(algebra::NoIntegers{}, j, k)];
#pragma unroll
      for (unsigned j = 0; j < kN; ++j)
#pragma unroll
        for (unsigned i = 0; i < kM; ++i) {
          Element& sum = accumulators[tCrC::offset(algebra::NoIntegers{}, i, j)];
          sum = mul_add(rows[i], columns[j], sum);
        }
    }
  }

  // copy(tCrC, tCgC).
  __device__ __forceinline__ void write(Element* c) const {
#pragma unroll
    for (unsigned j = 0; j < kN; ++j)
#pragma unroll
      for (unsigned i = 0; i < kM; ++i)
        c[algebra::ModeOf<2, tCgC>::offset(params.integers, i, j)] = accumulators[tCrC::offset(algebra::NoIntegers{}, i, j)];
  }

  template <StepKind Kind, int, int>
  __device__ __forceinline__ void step() {
    if constexpr (Kind == StepKind::Store) {
      copy<tAgA, tAsA>(global<tAgA>(params.a), shared<tAsA>(sA));
      copy<tBgB, tBsB>(global<tBgB>(params.b), shared<tBsB>(sB));
    } else if constexpr (Kind == StepKind::MultiplyTile) {
      multiply(shared<tCsA>(sA), shared<tCsB>(sB));
    } else if constexpr (Kind == StepKind::Advance) {
      ++tile;
    } else if constexpr (Kind == StepKind::Write) {
      write(global<tCgC>(params.c));
    }
  }

  static __device__ __forceinline__ void run(CuteGemmParams const& params) {
    __shared__ Element sA[Config::sA::cosize(algebra::NoIntegers{})], sB[Config::sB::cosize(algebra::NoIntegers{})];
    CuteGemm self{params, sA, sB};
    unsigned const tiles = algebra::ModeOf<2, algebra::ModeOf<2, tAgA>>::size(params.integers);
    while (self.tile < tiles) schedule::perform<typename Config::Schedule::Body>(self);
    schedule::perform<typename Config::Schedule::Epilogue>(self);
  }
};

// A layout as a map, for its fingerprint: rows are all modes but the last, in a table of integers
// that is known.
template <class Layout, int Last, class Problem>
struct Map {
  static constexpr int kColumns = algebra::ModeOf<Last, Layout>::size(Problem{});
  static constexpr int kRows = Layout::size(Problem{}) / kColumns;
  static constexpr unsigned at(int row, int column) { return Layout::offset(Problem{}, row + column * kRows); }
};

}  // namespace layout
