// Twin of src/threadblock/addresses.rs: where the addresses of a product's matrices lie among those that a launch of an array takes.
#pragma once

namespace threadblock {

// The map (product, matrix), of A, B, C and D, to the number of its address.
template <int Products>
struct ProductAddresses {
  static constexpr int kRows = Products;
  static constexpr int kColumns = 4;
  static __device__ __forceinline__ constexpr unsigned at(unsigned product, unsigned matrix) { return product * kColumns + matrix; }
};

}  // namespace threadblock
