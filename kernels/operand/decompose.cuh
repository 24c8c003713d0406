// Twin of src/operand/decompose.rs: decomposition of an f32 operand into rows of concatenated
// terms.
#pragma once
#include "config.cuh"
#include "layout/index_map.cuh"
#include "numeric/emulation.cuh"
#include "thread/access.cuh"

namespace pass {

// Row of a thread's step in a tile, and piece of the row. Consecutive threads take neighbors along
// K, or neighboring rows.
template <class Config>
constexpr unsigned piece_row(unsigned thread, unsigned step, bool along_k) {
  unsigned const number = thread + step * Config::kThreads;
  return along_k ? number / Config::kPieces : number % Config::kTile;
}
template <class Config>
constexpr unsigned piece_along(unsigned thread, unsigned step, bool along_k) {
  unsigned const number = thread + step * Config::kThreads;
  return along_k ? number % Config::kPieces : number / Config::kTile;
}

// Map from (thread, step) to row * pieces + piece.
template <class Config, bool AlongK>
struct PieceMap {
  static constexpr int kRows = Config::kThreads, kColumns = Config::kSteps;
  static constexpr int at(int thread, int step) {
    return int(piece_row<Config>(thread, step, AlongK)) * Config::kPieces + int(piece_along<Config>(thread, step, AlongK));
  }
};

template <class Config>
struct Decompose {
  using Facts = typename Config::Facts;
  using Access = thread::Words<16>;
  static constexpr int kPiece = Config::kPiece;

  DecomposeParams const& params;
  unsigned const matrix, block;

  __device__ __forceinline__ Decompose(DecomposeParams const& params, index::BlockOfMatrix at)
      : params(params), matrix(at.matrix), block(at.block) {}

  __device__ __forceinline__ DecomposedLine* line(unsigned mn) const {
    return reinterpret_cast<DecomposedLine*>(params.lines + matrix * params.stride_terms) + mn;
  }

  // Loads a piece of a row; elements beyond the matrix are zeros.
  __device__ __forceinline__ void load(float (&x)[kPiece], unsigned mn, unsigned k) const {
#pragma unroll
    for (int i = 0; i < kPiece; ++i) x[i] = 0.0f;
    if (mn >= params.mn) return;
    float const* const source = reinterpret_cast<float const*>(params.source + matrix * params.stride_source);
    if (params.along_k) {
      float const* const from = source + mn * params.leading + k;
      if (params.vectors && k + kPiece <= params.k) {
#pragma unroll
        for (int i = 0; i < kPiece; i += 4) {
          Access const four = thread::read<16, true>(from + i);
#pragma unroll
          for (int j = 0; j < 4; ++j) x[i + j] = numeric::number(four.word[j]);
        }
        return;
      }
#pragma unroll
      for (int i = 0; i < kPiece; ++i)
        if (k + i < params.k) x[i] = from[i];
    } else {
      float const* const from = source + k * params.leading + mn;
#pragma unroll
      for (int i = 0; i < kPiece; ++i)
        if (k + i < params.k) x[i] = from[i * params.leading];
    }
  }

  // Combines the values of all lanes with pieces of one row: eight neighboring lanes, or a single
  // lane.
  template <class Combine>
  __device__ __forceinline__ unsigned over_row(unsigned x, Combine const& combine) const {
    if (params.along_k) {
#pragma unroll
      for (int distance = 1; distance < Config::kPieces; distance *= 2) x = combine(x, __shfl_xor_sync(0xffffffffu, x, distance));
    }
    return x;
  }
  __device__ __forceinline__ bool speaks() const { return !params.along_k || threadIdx.x % Config::kPieces == 0; }

  __device__ __forceinline__ void measure(float const (&x)[kPiece], unsigned mn) const {
    unsigned largest = 0;
#pragma unroll
    for (int i = 0; i < kPiece; ++i) largest = max(largest, numeric::bits(x[i]) & numeric::kMagnitude);
    largest = over_row(largest, [](unsigned x, unsigned y) { return max(x, y); });
    if (speaks() && mn < params.mn) atomicMax(&line(mn)->largest, largest);
  }

  // Counts fit into 16 bits, because they cover eight pieces.
  __device__ __forceinline__ void count(float const (&x)[kPiece], unsigned mn, unsigned largest) const {
    unsigned counts = 0;
#pragma unroll
    for (int i = 0; i < kPiece; ++i) {
      unsigned const magnitude = numeric::bits(x[i]) & numeric::kMagnitude;
      counts += unsigned(magnitude != 0) + (unsigned(numeric::outside<Facts>(magnitude, largest)) << 16);
    }
    counts = over_row(counts, [](unsigned x, unsigned y) { return x + y; });
    if (!speaks() || mn >= params.mn) return;
    atomicAdd(&line(mn)->nonzero, counts & 0xffffu);
    if (counts >> 16) atomicAdd(&line(mn)->outside, counts >> 16);
  }

  __device__ __forceinline__ void write(float const (&x)[kPiece], unsigned mn, unsigned k) const {
    unsigned largest = 0;
    if constexpr (Facts::kScales) {
      largest = mn < params.mn ? line(mn)->largest : 0;
      count(x, mn, largest);
    }
    if (mn >= params.mn) return;
    int const shift = Facts::kScales ? numeric::shift_of<Facts>(largest) : 0;
    Access terms[Facts::kTerms];
#pragma unroll
    for (int i = 0; i < kPiece; i += 2) {
      numeric::Terms const first = numeric::decompose<Facts>(x[i], shift), second = numeric::decompose<Facts>(x[i + 1], shift);
#pragma unroll
      for (int term = 0; term < int(Facts::kTerms); ++term) terms[term].word[i / 2] = first.term[term] | second.term[term] << 16;
    }
    unsigned short* const to = reinterpret_cast<unsigned short*>(params.terms + matrix * params.stride_terms) + mn * params.pitch + k;
#pragma unroll
    for (int term = 0; term < int(Facts::kTerms); ++term) thread::write<16, false>(to + (unsigned long long)term * params.padded, terms[term]);
  }

  template <bool Measures>
  __device__ __forceinline__ void pieces() const {
    // The tile's first row and its first element along K.
    unsigned const row = block / params.tiles_across * Config::kTile, depth = block % params.tiles_across * Config::kPieces * kPiece;
    float x[Config::kSteps][kPiece];
    unsigned mn[Config::kSteps], k[Config::kSteps];
#pragma unroll
    for (int step = 0; step < Config::kSteps; ++step) {
      mn[step] = row + piece_row<Config>(threadIdx.x, step, params.along_k);
      k[step] = depth + piece_along<Config>(threadIdx.x, step, params.along_k) * kPiece;
      load(x[step], mn[step], k[step]);
    }
#pragma unroll
    for (int step = 0; step < Config::kSteps; ++step) {
      if constexpr (Measures) {
        measure(x[step], mn[step]);
      } else {
        write(x[step], mn[step], k[step]);
      }
    }
  }

  // Returns the row of a thread, if each thread has a row.
  __device__ __forceinline__ unsigned own_row() const { return block * Config::kThreads + threadIdx.x; }

  __device__ __forceinline__ void clear() const {
    if (own_row() < params.mn) *line(own_row()) = DecomposedLine{};
    if (blockIdx.x == 0 && threadIdx.x == 0) *reinterpret_cast<unsigned*>(params.status) = 0xffffffffu;
  }

  // Rows of a batch are numbered matrix by matrix.
  __device__ __forceinline__ void judge() const {
    unsigned const mn = own_row();
    if (mn >= params.mn) return;
    DecomposedLine const facts = *line(mn);
    line(mn)->shift = numeric::shift_of<Facts>(facts.largest);
    if (numeric::refused<Facts>(facts)) atomicMin(reinterpret_cast<unsigned*>(params.status), matrix * params.mn + mn);
  }
};

template <class Config>
__device__ __forceinline__ void decompose(DecomposeParams const& params) {
  Decompose<Config> const pass(params, index::block_of_matrix(params.blocks));
  if constexpr (Config::Facts::kScales) {
    switch (DecomposeStep(params.step)) {
      case DecomposeStep::Clear: return pass.clear();
      case DecomposeStep::Measure: return pass.template pieces<true>();
      case DecomposeStep::Judge: return pass.judge();
      case DecomposeStep::Write: break;
    }
  }
  pass.template pieces<false>();
}

}  // namespace pass
