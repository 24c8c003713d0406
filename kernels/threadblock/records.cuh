// Twin of src/threadblock/records.rs: records of the GEMMs of a pointer array.
#pragma once

namespace threadblock {

// Map from (GEMM, piece) to the index of a 4-byte word of the records. Pieces 0 to 3 are the
// addresses of A, B, C, and D, two words each. Pieces 4 to 7 are their positions, one word each, in
// records for TMA.
template <int Products, bool Positions>
struct ProductRecords {
  static constexpr int kRows = Products;
  static constexpr int kColumns = Positions ? 8 : 4;
  static constexpr unsigned kWords = Positions ? 12 : 8;
  static __device__ __forceinline__ constexpr unsigned at(unsigned product, unsigned piece) {
    return product * kWords + (piece < 4 ? 2 * piece : 4 + piece);
  }
};

// Reads a piece of a GEMM's record, or two adjacent positions. Element is the type that is read.
template <class Element, bool Positions>
__device__ __forceinline__ Element read_piece(unsigned long long records, unsigned product, unsigned piece) {
  using Records = ProductRecords<1, Positions>;
  unsigned const* const record = reinterpret_cast<unsigned const*>(records) + (unsigned long long)product * Records::kWords;
  return __ldg(reinterpret_cast<Element const*>(record + Records::at(0, piece)));
}

}  // namespace threadblock
