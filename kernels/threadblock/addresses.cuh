// Twin of src/threadblock/addresses.rs: where the addresses and the maps of a product's matrices
// lie, among those that a launch of an array takes or in memory.
#pragma once

namespace threadblock {

// The map (product, matrix), of A, B, C and D, to the number of its address.
template <int Products>
struct ProductAddresses {
  static constexpr int kRows = Products;
  static constexpr int kColumns = 4;
  static __device__ __forceinline__ constexpr unsigned at(unsigned product, unsigned matrix) { return product * kColumns + matrix; }
};

// The map (product, piece) to the number of a word of eight bytes, of what lies in memory: pieces
// are the tensor maps of A, B, C and D, and then their addresses.
template <int Products>
struct ProductRecords {
  static constexpr int kRows = Products;
  static constexpr int kColumns = 8;
  // Words of a map, and of a product's record: whole lines of 128 bytes, at which maps begin.
  static constexpr unsigned kMap = 16, kWords = 5 * kMap;
  static __device__ __forceinline__ constexpr unsigned of_map(unsigned matrix) { return matrix * kMap; }
  static __device__ __forceinline__ constexpr unsigned of_address(unsigned matrix) { return 4 * kMap + matrix; }
  static __device__ __forceinline__ constexpr unsigned at(unsigned product, unsigned piece) {
    return product * kWords + (piece < 4 ? of_map(piece) : of_address(piece - 4));
  }
};

// The place of a piece of a product's record, of records that begin at an address.
__device__ __forceinline__ unsigned long long* record_of(unsigned long long records, unsigned product, unsigned piece) {
  return reinterpret_cast<unsigned long long*>(records) + (unsigned long long)product * ProductRecords<1>::kWords + ProductRecords<1>::at(0, piece);
}

}  // namespace threadblock
