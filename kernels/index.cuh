// Twin of src/index.rs: index maps, and the number that says whether both languages have the same
// one.
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

// The compiler knows nothing of the number any more, which is the same for all lanes of a warp:
// what was made of it before is made again.
__device__ __forceinline__ void forget(unsigned& number) { number = __shfl_sync(0xffffffffu, number, 0); }
__device__ __forceinline__ void forget(long long& number) { asm volatile("" : "+l"(number)); }

// The numbers of the thread and of the block, of which the compiler knows nothing else.
__device__ __forceinline__ int thread_again() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}
__device__ __forceinline__ unsigned block_again() {
  unsigned block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}

// The matrix of a batch that a block works on, and its number among that matrix's blocks.
struct BlockOfMatrix {
  unsigned matrix, block;
};
__device__ __forceinline__ BlockOfMatrix block_of_matrix(unsigned blocks) { return {blockIdx.x / blocks, blockIdx.x % blocks}; }

}  // namespace index
