// Twin of src/index.rs: index maps, and the number that says whether both languages have the same one.
#pragma once

namespace index {

// One of two types.
template <bool Condition, class Yes, class No> struct Either { using Type = Yes; };
template <class Yes, class No> struct Either<false, Yes, No> { using Type = No; };

// What a left-out point counts as.
constexpr unsigned kLeftOut = 0xffffffffu;

// FNV-1a over the offsets of the whole domain, row by row.
template <class Map>
constexpr unsigned fingerprint() {
  unsigned hash = 2166136261u;
  for (int row = 0; row < Map::kRows; ++row)
    for (int column = 0; column < Map::kColumns; ++column)
      hash = (hash ^ unsigned(Map::at(row, column))) * 16777619u;
  return hash;
}

// The matrix of a batch that a block works on, and its number among that matrix's blocks.
struct BlockOfMatrix {
  unsigned matrix, block;
};
__device__ __forceinline__ BlockOfMatrix block_of_matrix(unsigned blocks) { return {blockIdx.x / blocks, blockIdx.x % blocks}; }

}  // namespace index
