// Twin of src/threadblock/records.rs: records of the GEMMs of a pointer array.
#pragma once

namespace threadblock {

// Map from (GEMM, piece) to the index of a 4-byte word of the records. Pieces 0 to 3 are the
// addresses of A, B, C, and D, two words each. Pieces 4 to 7 are their positions, one word each, in
// records for TMA.
template <int Products, bool HasPositions>
struct ProductRecords {
  static constexpr int kRows = Products;
  static constexpr int kColumns = HasPositions ? 8 : 4;
  static constexpr unsigned kWords = HasPositions ? 12 : 8;
  static __device__ __forceinline__ constexpr unsigned at(unsigned product, unsigned piece) {
    return product * kWords + (piece < 4 ? 2 * piece : 4 + piece);
  }
};

// Reads a piece of a GEMM's record, or two adjacent positions. Element is the type that is read.
template <class Element, bool HasPositions>
__device__ __forceinline__ Element read_piece(unsigned long long records, unsigned product, unsigned piece) {
  using Records = ProductRecords<1, HasPositions>;
  unsigned const* const record = reinterpret_cast<unsigned const*>(records) + (unsigned long long)product * Records::kWords;
  return __ldg(reinterpret_cast<Element const*>(record + Records::at(0, piece)));
}

// Positions of A and B (First = 0) or of C and D (First = 2) of a GEMM of a pointer array. They are
// loaded once per unit: a load in each k-tile would delay the copies.
template <bool Has, int First>
struct Positions {
  using Records = ProductRecords<1, true>;
  static constexpr unsigned kFirst = Records::at(0, 4 + First);
  static_assert(Records::at(0, 4 + First + 1) == kFirst + 1 && kFirst % 2 == 0 && Records::kWords % 2 == 0, "an aligned pair");

  int2 both;
  template <class Params>
  __device__ __forceinline__ void load(Params const& params, unsigned product) { both = read_piece<int2, true>(params.records, product, 4 + First); }
  template <int Number>
  __device__ __forceinline__ int get() const { return Number % 2 == 0 ? both.x : both.y; }
};
template <int First>
struct Positions<false, First> {
  template <class Params>
  __device__ __forceinline__ void load(Params const&, unsigned) {}
};

}  // namespace threadblock
