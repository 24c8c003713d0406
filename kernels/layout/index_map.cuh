// Twin of src/layout/index_map.rs: index maps, and the fingerprint that checks that both languages
// have the same map.
#pragma once

namespace index {

// Selects one of two types.
template <bool Condition, class Yes, class No> struct Either { using Type = Yes; };
template <class Yes, class No> struct Either<false, Yes, No> { using Type = No; };

// Value of a point that the map leaves out.
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

// Calls f(0) .. f(Count - 1). The compiler may ignore the pragma on a loop whose unrolled body is
// large.
template <int Count, int I = 0, class F>
__device__ __forceinline__ void unrolled(F const& f) {
  if constexpr (I < Count) {
    f(I);
    unrolled<Count, I + 1>(f);
  }
}

// Makes a warp-uniform number opaque to the compiler, which then recomputes values derived from it
// instead of keeping them in registers.
__device__ __forceinline__ void forget(unsigned& number) { number = __shfl_sync(0xffffffffu, number, 0); }
__device__ __forceinline__ void forget(long long& number) { asm volatile("" : "+l"(number)); }

// Return the indices of the thread and of the block, opaque to the compiler.
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

// Matrix of a batch that a block works on, and the block's index among that matrix's blocks.
struct BlockOfMatrix {
  unsigned matrix, block;
};
__device__ __forceinline__ BlockOfMatrix block_of_matrix(unsigned blocks) { return {blockIdx.x / blocks, blockIdx.x % blocks}; }

}  // namespace index
