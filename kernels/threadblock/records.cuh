// Twin of src/threadblock/records.rs: records of the GEMMs of a pointer array.
#pragma once

namespace threadblock {

// Map from (GEMM, piece) to the index of an 8-byte word of the records. Pieces 0 to 3 are the
// addresses of A, B, C, and D. Pieces 4 to 7 are their tensor maps, in records for TMA.
template <int Products, bool Mapped>
struct ProductRecords {
  static constexpr int kRows = Products;
  static constexpr int kColumns = Mapped ? 8 : 4;
  // Words per tensor map, which begins at a multiple of 128 bytes, and words per record.
  static constexpr unsigned kMap = 16, kWords = Mapped ? 5 * kMap : 4;
  static __device__ __forceinline__ constexpr unsigned at(unsigned product, unsigned piece) {
    return product * kWords + (piece < 4 ? piece : (piece - 3) * kMap);
  }
};

// Returns the address of a piece of a GEMM's record.
template <bool Mapped>
__device__ __forceinline__ unsigned long long* record_of(unsigned long long records, unsigned product, unsigned piece) {
  using Records = ProductRecords<1, Mapped>;
  return reinterpret_cast<unsigned long long*>(records) + (unsigned long long)product * Records::kWords + Records::at(0, piece);
}

}  // namespace threadblock
