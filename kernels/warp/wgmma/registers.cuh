// Twin of src/warp/wgmma/registers.rs: loads of an M-major A from shared memory to the
// registers of an instruction.
#pragma once
#include "warp/wgmma.cuh"

namespace warp {

// Map from (thread of each instruction's 64 rows, element of the registers of a stage) to an offset
// in the tile, in elements, and its loads. Facts describe A's tile of a stage.
template <class Facts, FragmentRows Rows>
struct FragmentLoad {
  using Tile = OperandTile<Facts>;
  static constexpr int kBytes = Facts::kElementBytes;
  static constexpr int kPacked = 4 / kBytes;
  // K of a step in elements, steps per stage, and registers per step.
  static constexpr int kStepK = 32 / kBytes, kSteps = 4, kStep = 4;
  static constexpr int kRegisters = kSteps * kStep;
  static constexpr int kRows = Tile::kRows / 64 * kWarpgroup;
  static constexpr int kColumns = kRegisters * kPacked;
  static_assert(kBytes == 1 || (kBytes == 4 && Rows == FragmentRows::Paired), "rows are crossed by a selector of bytes");

  // Returns the k within a step. For 8 bits, it belongs to row `row` of matrix `matrix`. For 32
  // bits, it belongs to access `matrix` of a lane with lane % 4 = row.
  static __device__ __forceinline__ constexpr int depth(int matrix, int row) {
    if constexpr (kBytes == 1) {
      return matrix / 2 * 16 + row / 2 * 4 + 2 * (matrix % 2 ^ row / 4) + row % 2;
    } else {
      return row + 4 * (matrix ^ row % 2);
    }
  }

  // Lanes with lane % 4 = 2 or 3 swap two words; lanes in the upper half of a warp may swap two
  // rows.
  static __device__ __forceinline__ constexpr unsigned selector(int lane, int lower) {
    int const crossed = Rows == FragmentRows::Crossed ? lane / 16 : 0;
    unsigned const rows = (lower ^ crossed) == 0 ? 0x6420 : 0x7531;
    return lane % 4 < 2 ? rows : rows >> 8 | (rows & 0xff) << 8;
  }

  static __device__ __forceinline__ constexpr int at(int point, int column) {
    int const thread = point % kWarpgroup, lane = thread % 32;
    int const step = column / (kStep * kPacked), i = column % (kStep * kPacked), which = i / kPacked, byte = i % kPacked;
    int const half = which / 2, lower = which % 2;
    int row = lower, k = 0;
    if constexpr (kBytes == 1) {
      int const source = selector(lane, lower) >> 4 * byte & 7;
      row = source % 2;
      k = depth(2 * half + source / 4, lane % 4 * 2 + source % 4 / 2);
    } else {
      k = depth(half ^ lane % 2, lane % 4);
    }
    return Tile::at(point / kWarpgroup * 64 + thread / 32 * 16 + lane / 4 * 2 + row, step * kStepK + k);
  }

  // Returns the offset of a thread's first access of the 64 rows from `m` on, in bytes of the tile.
  static __device__ __forceinline__ constexpr unsigned first(int thread, int m) {
    int const lane = thread % 32, row = m + thread / 32 * 16;
    if constexpr (kBytes == 1) {
      return Tile::at(row, depth(lane / 8, lane % 8));
    } else {
      return Tile::at(row + lane / 4 * 2, depth(0, lane % 4)) * kBytes;
    }
  }
};

// State of a thread that loads A of Instructions instruction tiles, side by side along M.
template <class Load, int Instructions>
struct FragmentLoader {
  static constexpr int kBytes = Load::kBytes, kStep = Load::kStep;
  // Steps are whole periods of the swizzle apart.
  static constexpr unsigned kApart = Load::Tile::at(0, Load::kStepK) * kBytes;
  static_assert(kApart % 1024 == 0, "a step begins a period of the swizzle");
  // The second access of 32-bit elements is in other rows and chunks of the same period.
  static constexpr unsigned kOther = Load::Tile::at(0, 4) * kBytes;

  unsigned first[Instructions];
  unsigned selector[2];
  bool exchanged;

  __device__ __forceinline__ FragmentLoader(int thread, int m) : exchanged(thread % 2) {
    // Opaque to the compiler, which would otherwise recompute them in each iteration of the main
    // loop.
#pragma unroll
    for (int i = 0; i < Instructions; ++i) {
      first[i] = Load::first(thread, m + i * 64);
      asm volatile("" : "+r"(first[i]));
    }
    if constexpr (kBytes == 1) {
#pragma unroll
      for (int lower = 0; lower < 2; ++lower) {
        selector[lower] = Load::selector(thread % 32, lower);
        asm volatile("" : "+r"(selector[lower]));
      }
    }
  }

  // Loads all steps of a stage, whose part of A begins at `from`.
  __device__ __forceinline__ void load(unsigned (&to)[Instructions][Load::kRegisters], unsigned from) const {
#pragma unroll
    for (int i = 0; i < Instructions; ++i)
#pragma unroll
      for (int step = 0; step < Load::kSteps; ++step) {
        if constexpr (kBytes == 1) bytes(to[i] + step * kStep, from + first[i] + step * kApart);
        else words(to[i] + step * kStep, from + first[i], step * kApart);
      }
    // The registers must be written before the following fence; the compiler may not delay the
    // writes.
#pragma unroll
    for (int i = 0; i < Instructions; ++i) keep(to[i]);
  }

 private:
  __device__ __forceinline__ void bytes(unsigned* to, unsigned from) const {
    unsigned word[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "r"(from) : "memory");
#pragma unroll
    for (int i = 0; i < kStep; ++i) to[i] = __byte_perm(word[i / 2 * 2], word[i / 2 * 2 + 1], selector[i % 2]);
  }

  __device__ __forceinline__ void words(unsigned* to, unsigned from, unsigned step) const {
    unsigned word[2][2];
#pragma unroll
    for (int access = 0; access < 2; ++access)
      asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(word[access][0]), "=r"(word[access][1]) : "r"((access ? from ^ kOther : from) + step) : "memory");
#pragma unroll
    for (int i = 0; i < kStep; ++i) to[i] = exchanged ? word[1 - i / 2][i % 2] : word[i / 2][i % 2];
  }
};

// Stand-in for kernels whose A stays in shared memory.
struct NoFragments {
  __device__ __forceinline__ NoFragments(int, int) {}
};

}  // namespace warp
