// Twin of src/epilogue/tensor_store.rs: from a warpgroup's accumulators to D, slice by slice: through the epilogue to a staging
// buffer, and from there by the copy engine, or, where D is not aligned for it, by threads.
#pragma once
#include "numeric.cuh"
#include "threadblock/tensor_copy.cuh"
#include "warp/mma_warpgroup.cuh"

namespace epilogue {

// The map (row, column) of a slice to an offset in its staging buffer, in bytes: a box of the copy engine.
template <class Config>
struct StagingMap {
  static constexpr int kRows = Config::Mma::kM;
  static constexpr int kColumns = Config::kSliceColumns;
  static constexpr unsigned kRowBytes = kColumns * sizeof(typename Config::C);

  // `line` is where the row begins; rows are whole spans of the swizzle.
  static __device__ __forceinline__ constexpr unsigned within(unsigned line, unsigned byte) {
    return line + (byte ^ (line / 128 % (1u << Config::kSliceSwizzle) * 16));
  }
  static __device__ constexpr unsigned at(int row, int column) {
    return within(row * kRowBytes, column * sizeof(typename Config::C));
  }
};

template <class Config, class Params>
struct TensorStore {
  using Mma = typename Config::Mma;
  using C = typename Config::C;
  using Accumulator = typename Config::Accumulator;
  using Compute = typename Config::Epilogue::Compute;
  using Sums = typename Mma::Accumulator[Config::kRepeatsM][Config::kRepeatsN][Mma::kRegisters];
  using Pair = Vector<C, 2>;
  using Neighbours = Vector<Compute, 2>;
  using Map = StagingMap<Config>;
  // Slices side by side.
  static constexpr int kAcross = Config::kWarpN / Config::kSliceColumns;
  // Columns that four lanes hold together.
  static constexpr int kOctet = 8;

  Params const& params;
  unsigned const thread;
  // Where the warpgroup's part begins in D.
  unsigned row = 0;
  unsigned column = 0;
  Compute scalars[8];

  __device__ __forceinline__ TensorStore(Params const& params, unsigned thread) : params(params), thread(thread) {
#pragma unroll
    for (int i = 0; i < 8; ++i) scalars[i] = convert<Compute>(params.scalars[i]);
  }

  static __device__ __forceinline__ void clear(Sums& sums) {
#pragma unroll
    for (int m = 0; m < Config::kRepeatsM; ++m)
#pragma unroll
      for (int n = 0; n < Config::kRepeatsN; ++n)
#pragma unroll
        for (int i = 0; i < Mma::kRegisters; ++i) sums[m][n][i] = 0;
  }

  // Every thread's part of a slice, to the staging buffer.
  template <int Slice>
  __device__ __forceinline__ void deposit(Sums const& sums, unsigned staging) {
    if (params.unscaled) {
      // The compiler folds what the scalars do, and the loads of C.
      Compute const known[8] = {Compute(1), Compute(0), scalars[2], scalars[3], scalars[4], scalars[5], scalars[6], scalars[7]};
      deposit<Slice, false>(sums, staging, known);
    } else {
      deposit<Slice, true>(sums, staging, scalars);
    }
  }

  // A slice from its staging buffer to D.
  template <int Slice>
  __device__ __forceinline__ void write(unsigned staging) {
    unsigned const first_row = row + Slice / kAcross * Map::kRows, first_column = column + Slice % kAcross * Config::kSliceColumns;
    if constexpr (Config::kStoreAccess * sizeof(C) == 16) {
      if (thread == 0) threadblock::store(params.d, threadblock::Corner<2>{{int(first_column), int(first_row)}}, staging);
    } else {
      using Access = Vector<C, Config::kStoreAccess>;
      constexpr unsigned a_row = Config::kSliceColumns / Config::kStoreAccess;
      C* const d = reinterpret_cast<C*>(params.d_address) + (long long)first_row * params.ldd + first_column;
#pragma unroll
      for (unsigned i = thread; i < Map::kRows * a_row; i += warp::kWarpgroup) {
        unsigned const m = i / a_row, n = i % a_row * Config::kStoreAccess;
        if (first_row + m < unsigned(params.m) && first_column + n < unsigned(params.n))
          *reinterpret_cast<Access*>(d + m * params.ldd + n) = shared<Access>(Map::within(staging + m * Map::kRowBytes, n * sizeof(C)));
      }
    }
  }

 private:
  template <int Slice, bool MayRead>
  __device__ __forceinline__ void deposit(Sums const& sums, unsigned staging, Compute const (&scalar)[8]) {
    constexpr int across = Slice % kAcross * Config::kSliceColumns, down = Slice / kAcross;
    if constexpr (sizeof(C) == 2) {
      // Four matrices of 8 x 8 at once: two octets of columns, each of rows 0 to 7 and 8 to 15 of the warp's.
      unsigned const lane = thread % 32, matrix = lane / 8;
      unsigned const line = staging + (thread / 32 * 16 + matrix % 2 * 8 + lane % 8) * Map::kRowBytes;
#pragma unroll
      for (int octet = 0; octet < Config::kSliceColumns / kOctet; octet += 2) {
        unsigned words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          Neighbours const two = apply<down, MayRead>(sums, scalar, across + (octet + i / 2) * kOctet, i % 2);
          words[i] = convert_pair<C>(two.element[0], two.element[1]);
        }
        unsigned const to = Map::within(line, (octet + matrix / 2) * kOctet * sizeof(C));
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
      }
    } else {
#pragma unroll
      for (int octet = 0; octet < Config::kSliceColumns / kOctet; ++octet)
#pragma unroll
        for (int lower = 0; lower < 2; ++lower) {
          Neighbours const computed = apply<down, MayRead>(sums, scalar, across + octet * kOctet, lower);
          Pair const two{{convert<C>(computed.element[0]), convert<C>(computed.element[1])}};
          unsigned const line = staging + warp::warpgroup_row(thread, lower) * Map::kRowBytes;
          unsigned const to = Map::within(line, (octet * kOctet + thread % 4 * 2) * sizeof(C));
          if constexpr (sizeof(C) == 4) {
            asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(bits(two.element[0])), "r"(bits(two.element[1])) : "memory");
          } else {
            static_assert(sizeof(C) == 1, "elements of D have 1, 2 or 4 bytes");
            asm volatile("st.shared.b16 [%0], %1;" ::"r"(to), "h"(halves(two)) : "memory");
          }
        }
    }
  }

  // The epilogue of two neighbours: the lane's columns of the octet that begins at column `n` of the part.
  template <int Down, bool MayRead>
  __device__ __forceinline__ Neighbours apply(Sums const& sums, Compute const (&scalar)[8], int n, int lower) const {
    int const first = n % Mma::kN / kOctet * 4 + 2 * lower;
    Pair source{};
    if (MayRead && params.reads_source) source = read(row + Down * Map::kRows + warp::warpgroup_row(thread, lower), column + n + thread % 4 * 2);
    Neighbours two;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      two.element[i] = Config::Epilogue::apply(convert<Compute>(accumulator(sums[Down][n / Mma::kN], first + i)), convert<Compute>(source.element[i]), scalar);
    return two;
  }

  // Accumulators of f16 lie two in a register.
  static __device__ __forceinline__ Accumulator accumulator(typename Mma::Accumulator const (&sums)[Mma::kRegisters], int i) {
    if constexpr (sizeof(Accumulator) == 2) {
      return Accumulator{(unsigned short)(sums[i / 2] >> i % 2 * 16)};
    } else {
      return sums[i];
    }
  }

  // Two neighbours of C; zeros outside.
  __device__ __forceinline__ Pair read(unsigned m, unsigned n) const {
    Pair two{};
    if (m >= unsigned(params.m)) return two;
    C const* const from = reinterpret_cast<C const*>(params.c) + (long long)m * params.ldc + n;
    if constexpr (Config::kStoreAccess >= 2) {
      if (n < unsigned(params.n)) two = *reinterpret_cast<Pair const*>(from);
    } else {
#pragma unroll
      for (unsigned i = 0; i < 2; ++i)
        if (n + i < unsigned(params.n)) two.element[i] = from[i];
    }
    return two;
  }

  static __device__ __forceinline__ unsigned bits(float x) { return __float_as_uint(x); }
  static __device__ __forceinline__ unsigned bits(int x) { return x; }
  template <class Byte>
  static __device__ __forceinline__ unsigned short halves(Vector<Byte, 2> const& two) {
    return (unsigned short)((unsigned char)two.element[0] | (unsigned char)two.element[1] << 8);
  }

  template <class Access>
  static __device__ __forceinline__ Access shared(unsigned from) {
    return *reinterpret_cast<Access const*>(__cvta_shared_to_generic(from));
  }
};

}  // namespace epilogue
