// Twin of src/threadblock/addresses.rs: addresses and tensor maps of the GEMMs of a pointer array,
// in the launch parameters or in memory.
#pragma once

namespace threadblock {

// Map from (GEMM, matrix) to the index of an address. The matrices are A, B, C, and D.
template <int Products>
struct ProductAddresses {
  static constexpr int kRows = Products;
  static constexpr int kColumns = 4;
  static __device__ __forceinline__ constexpr unsigned at(unsigned product, unsigned matrix) { return product * kColumns + matrix; }
};

// Map from (GEMM, piece) to the index of an 8-byte word of the records in memory. Pieces are the
// tensor maps of A, B, C, and D, followed by their addresses.
template <int Products>
struct ProductRecords {
  static constexpr int kRows = Products;
  static constexpr int kColumns = 8;
  // Words per tensor map, and per record. Records are whole 128-byte lines, because tensor maps
  // need that alignment.
  static constexpr unsigned kMap = 16, kWords = 5 * kMap;
  static __device__ __forceinline__ constexpr unsigned of_map(unsigned matrix) { return matrix * kMap; }
  static __device__ __forceinline__ constexpr unsigned of_address(unsigned matrix) { return 4 * kMap + matrix; }
  static __device__ __forceinline__ constexpr unsigned at(unsigned product, unsigned piece) {
    return product * kWords + (piece < 4 ? of_map(piece) : of_address(piece - 4));
  }
};

// Returns the address of a piece of a GEMM's record.
__device__ __forceinline__ unsigned long long* record_of(unsigned long long records, unsigned product, unsigned piece) {
  return reinterpret_cast<unsigned long long*>(records) + (unsigned long long)product * ProductRecords<1>::kWords + ProductRecords<1>::at(0, piece);
}

}  // namespace threadblock
