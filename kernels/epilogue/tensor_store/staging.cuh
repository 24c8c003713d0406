// Twin of src/epilogue/tensor_store/staging.rs: layout of a subtile in its staging buffer, and each
// thread's part of it.
#pragma once
#include "warp/warpgroup.cuh"

namespace epilogue {

// Map from (row, column) of a subtile to an offset in its staging buffer, in bytes. A subtile is
// one TMA box, or several side by side along M.
template <class Config>
struct StagingMap {
  static constexpr int kRows = Config::Mma::kM;
  static constexpr int kColumns = Config::kSubtileColumns;
  // Column-major D: rows per box, and bytes of a column in a box.
  static constexpr int kBoxRows = Config::kSubtileBoxRows, kBoxes = kRows / kBoxRows;
  static constexpr unsigned kColumnBytes = kBoxRows * sizeof(typename Config::C), kBoxBytes = kColumns * kColumnBytes;
  static constexpr unsigned kRowBytes = kColumns * sizeof(typename Config::C);
  // Rows and columns of an instruction tile in which a warp's lanes hold two elements each.
  static constexpr int kOctet = 8;

  // `line` is the offset at which the row begins; rows are whole spans of the swizzle.
  static __device__ __forceinline__ constexpr unsigned within(unsigned line, unsigned byte) {
    return line + (byte ^ (line / 128 % (1u << Config::kSubtileSwizzle) * 16));
  }
  // Returns the offset of the element `octet` octets of columns and `lower` times eight rows away.
  // Eight rows are a whole number of the swizzle's periods.
  static __device__ __forceinline__ constexpr unsigned further(unsigned first, int octet, int lower) {
    return (first ^ octet * kOctet * unsigned(sizeof(typename Config::C))) + lower * kOctet * kRowBytes;
  }
  static __device__ __forceinline__ constexpr unsigned in_columns(int row, int column) {
    return row / kBoxRows * kBoxBytes + within(column * kColumnBytes, row % kBoxRows * sizeof(typename Config::C));
  }
  // Returns the offset of the element `octet` octets of columns away. In a column-major D, eight
  // columns are a whole number of the swizzle's periods.
  static __device__ __forceinline__ constexpr unsigned octets_on(unsigned first, int octet) {
    return Config::kColumnMajor ? first + octet * kOctet * kColumnBytes : further(first, octet, 0);
  }
  static __device__ constexpr unsigned at(int row, int column) {
    if constexpr (Config::kColumnMajor) return in_columns(row, column);
    int const lower = row / kOctet % 2;
    unsigned const first = within((row - lower * kOctet) * kRowBytes, column % kOctet * sizeof(typename Config::C));
    return further(first, column / kOctet, lower);
  }
};

// Addresses of a thread in the first octet of columns, or in the first two, of a subtile whose
// buffer begins at `staging`.
template <class Config>
struct StagingAccess {
  using C = typename Config::C;
  using Map = StagingMap<Config>;
  static constexpr int kOctet = Map::kOctet;
  // Whether a thread's two rows are eight apart; otherwise, they are neighbors.
  static constexpr bool kOrdinary = Config::kFragmentRows == warp::FragmentRows::Ordinary;
  // Whether a thread's two rows are neighbors in each of its columns.
  static constexpr bool kInColumns = Config::kColumnMajor && !kOrdinary;
  // Whether matrices of 8 x 8 elements of 16 bits move at once. A column-major D needs them
  // transposed.
  static constexpr bool kMatrices = sizeof(C) == 2 && !kInColumns;

  // Returns the address that a lane provides for four matrices: two octets of columns, each with
  // the upper and the lower rows of the warp's lanes. Lane l addresses row l mod 8 of matrix l / 8,
  // or its column for a column-major D.
  static __device__ __forceinline__ constexpr unsigned matrices(unsigned staging, unsigned thread) {
    unsigned const lane = thread % 32, matrix = lane / 8;
    if constexpr (Config::kColumnMajor) {
      return staging + Map::in_columns(matrix_row(thread / 32, matrix % 2, 0), matrix / 2 * kOctet + lane % 8);
    } else {
      unsigned const line = staging + matrix_row(thread / 32, matrix % 2, lane % 8) * Map::kRowBytes;
      return Map::within(line, matrix / 2 * kOctet * sizeof(C));
    }
  }

  // Returns the address of a thread's first two elements of its upper or lower row.
  static __device__ __forceinline__ constexpr unsigned row(unsigned staging, unsigned thread, int lower) {
    return Map::within(staging + warp::warpgroup_row<Config::kFragmentRows>(thread, lower) * Map::kRowBytes, thread % 4 * 2 * sizeof(C));
  }

  // Returns the address of a thread's element of its upper row in its first or second column.
  static __device__ __forceinline__ constexpr unsigned column(unsigned staging, unsigned thread, int second) {
    return staging + Map::in_columns(warp::warpgroup_row<Config::kFragmentRows>(thread, 0), thread % 4 * 2 + second);
  }

  // Returns the address of the lower row, eight rows below. The swizzle moves whole chunks only,
  // and a warp's sixteen rows begin at a multiple of both.
  static __device__ __forceinline__ constexpr unsigned eight_rows_on(unsigned first, int lower) { return first ^ lower * kOctet * unsigned(sizeof(C)); }

  // Returns the subtile row of row `of_matrix` of a matrix of warp `which`'s upper or lower rows.
  static __device__ __forceinline__ constexpr unsigned matrix_row(unsigned which, unsigned lower, unsigned of_matrix) {
    if constexpr (kOrdinary) {
      return which * 16 + lower * 8 + of_matrix;
    } else {
      return warp::warpgroup_row<Config::kFragmentRows>(which * 32 + of_matrix * 4, lower);
    }
  }

  // Loads four matrices, or the first two.
  static __device__ __forceinline__ void load(unsigned (&words)[4], unsigned from, bool four) {
    if constexpr (!Config::kColumnMajor) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(from) : "memory");
    } else if (four) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(from) : "memory");
    } else {
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(from) : "memory");
    }
  }

  static __device__ __forceinline__ void store(unsigned to, unsigned const (&words)[4], bool four) {
    if constexpr (!Config::kColumnMajor) {
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
    } else if (four) {
      asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
    } else {
      asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(words[0]), "r"(words[1]) : "memory");
    }
  }
};

// Map from (thread, accumulator of a subtile) to the offset of its element of D in the staging
// buffer, computed from the addresses of the threads' accesses.
template <class Config>
struct StagedMap {
  using Access = StagingAccess<Config>;
  using Map = StagingMap<Config>;
  static constexpr int kRows = warp::kWarpgroup;
  static constexpr int kColumns = Config::kSubtileColumns / 2;

  static __device__ constexpr unsigned at(int thread, int i) {
    constexpr int bytes = sizeof(typename Config::C);
    int const octet = i / 4, lower = i / 2 % 2, second = i % 2;
    if constexpr (Access::kInColumns) {
      return Map::octets_on(Access::column(0, thread, second), octet) + lower * bytes;
    } else if constexpr (Access::kMatrices) {
      // A lane holds two neighbors of row lane / 4 of each matrix. In the line that a lane
      // addresses, they are adjacent; in a transposed matrix, a column is a line.
      int const along = thread % 4 * 2 + second, down = thread % 32 / 4;
      int const line = Config::kColumnMajor ? along : down, beside = Config::kColumnMajor ? down : along;
      int const pointing = thread / 32 * 32 + (octet % 2 * 2 + lower) * 8 + line;
      return Map::octets_on(Access::matrices(0, pointing), octet / 2 * 2) + beside * bytes;
    } else if constexpr (Config::kColumnMajor) {
      return Map::octets_on(Access::eight_rows_on(Access::column(0, thread, second), lower), octet);
    } else if constexpr (Access::kOrdinary) {
      return Map::further(Access::row(0, thread, 0), octet, lower) + second * bytes;
    } else {
      return Map::further(Access::row(0, thread, lower), octet, 0) + second * bytes;
    }
  }
};

}  // namespace epilogue
