// Twin of src/warp/mma_warpgroup/registers.rs: A that is contiguous along M, from shared memory to the registers of an instruction.
#pragma once
#include "warp/mma_warpgroup.cuh"

namespace warp {

// Tile is A's of a stage. The map (thread of each instruction's 64 rows in turn, element of the registers of a stage) to an offset in the
// tile, in elements; and the loads that it is made of.
template <class Tile, FragmentRows Rows>
struct FragmentLoad {
  static constexpr int kBytes = Tile::kElementBytes;
  static constexpr int kPacked = 4 / kBytes;
  // K of a step in elements, steps of a stage, registers of a step.
  static constexpr int kStepK = 32 / kBytes, kSteps = 4, kStep = 4;
  static constexpr int kRegisters = kSteps * kStep;
  static constexpr int kRows = Tile::kMn / 64 * kWarpgroup;
  static constexpr int kColumns = kRegisters * kPacked;
  static_assert(kBytes == 1 || (kBytes == 4 && Rows == FragmentRows::Paired), "rows are crossed by a selector of bytes");

  // The k of a step that row `row` of matrix `matrix` has; of 32 bits, that an access of a lane of lane % 4 = row takes.
  static __device__ __forceinline__ constexpr int depth(int matrix, int row) {
    if constexpr (kBytes == 1) {
      return matrix / 2 * 16 + row / 2 * 4 + 2 * (matrix % 2 ^ row / 4) + row % 2;
    } else {
      return row + 4 * (matrix ^ row % 2);
    }
  }

  // Of lanes whose lane % 4 is 2 or 3 two words are exchanged, of those of the upper half of a warp two rows may be.
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
    return OperandTile<Tile>::at(point / kWarpgroup * 64 + thread / 32 * 16 + lane / 4 * 2 + row, step * kStepK + k);
  }

  // Where a thread's first access of the 64 rows from `m` on begins, in bytes of the tile.
  static __device__ __forceinline__ unsigned first(int thread, int m) {
    int const lane = thread % 32, row = m + thread / 32 * 16;
    if constexpr (kBytes == 1) {
      return OperandTile<Tile>::at(row, depth(lane / 8, lane % 8));
    } else {
      return OperandTile<Tile>::at(row + lane / 4 * 2, depth(0, lane % 4)) * kBytes;
    }
  }

  // All steps of a stage, from an address that `first` is part of.
  static __device__ __forceinline__ void load(unsigned (&to)[kRegisters], unsigned from, int thread) {
    int const lane = thread % 32;
    // Steps are whole periods of the swizzle apart.
    constexpr unsigned kApart = OperandTile<Tile>::at(0, kStepK) * kBytes;
    static_assert(kApart % 1024 == 0, "a step begins a period of the swizzle");
    if constexpr (kBytes == 1) {
      unsigned const upper = selector(lane, 0), lower = selector(lane, 1);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        unsigned word[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "r"(from + step * kApart) : "memory");
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          to[step * kStep + 2 * half] = __byte_perm(word[2 * half], word[2 * half + 1], upper);
          to[step * kStep + 2 * half + 1] = __byte_perm(word[2 * half], word[2 * half + 1], lower);
        }
      }
    } else {
      // The k of the second access are four rows of the tile away: other rows and chunks of the same period.
      constexpr unsigned kOther = OperandTile<Tile>::at(0, 4) * kBytes;
      bool const exchanged = lane % 2;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        unsigned word[2][2];
#pragma unroll
        for (int access = 0; access < 2; ++access)
          asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(word[access][0]), "=r"(word[access][1]) : "r"((access ? from ^ kOther : from) + step * kApart) : "memory");
#pragma unroll
        for (int row = 0; row < 2; ++row) {
          to[step * kStep + row] = exchanged ? word[1][row] : word[0][row];
          to[step * kStep + 2 + row] = exchanged ? word[0][row] : word[1][row];
        }
      }
    }
  }
};

}  // namespace warp
