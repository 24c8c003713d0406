// Twin of src/warp/mma_sync/loads.rs: fragment loads from shared memory. src/warp/mma_sync/mod.rs
// defines their map.
#pragma once
#include "layout/index_map.cuh"
#include "threadblock/thread_map.cuh"
#include "warp/thread_maps.cuh"
#include "warp/thread_tiles.cuh"

namespace warp {

// Kind of fragment load: ldmatrix, transposed ldmatrix, or element by element.
enum class WordLoad { Matrices, Transposed, Elements };

// Map from (thread, element) of a k-block to mn * instruction K + k. A word's place is the sum of
// its lane's part and its index's part.
template <class Config, class Operand, bool AlongM>
struct OperandFragment {
  static constexpr int kEights = Operand::kInstructionMn / 8;
  static constexpr int kOfInstruction = Operand::kInstructionWords;
  static constexpr int kTiles = Operand::kWarpMn / Operand::kInstructionMn;
  static constexpr int kWords = kTiles * kOfInstruction;
  static constexpr int kRows = Config::kThreadsPerWarpSlice * Config::kWarpsK;
  static constexpr int kColumns = kWords * Operand::kPerWord;

  static __device__ __forceinline__ constexpr int mn_of_word(int word) { return word / kOfInstruction * Operand::kInstructionMn + word % kOfInstruction % kEights * 8; }
  static __device__ __forceinline__ constexpr int k_of_word(int word) { return word % kOfInstruction / kEights * 4 * Operand::kPerWord; }
  static __device__ __forceinline__ constexpr int mn_of_lane(int lane) { return lane / 4; }
  static __device__ __forceinline__ constexpr int k_of_lane(int lane) { return lane % 4 * Operand::kPerWord; }

  // Origin of a thread's warp tile, and the first k of its warp slice.
  static __device__ __forceinline__ constexpr int origin(int thread) {
    int const warp = thread / threadblock::kWarp;
    return (AlongM ? WarpPlace<Config>::m(warp) : WarpPlace<Config>::n(warp)) * Operand::kWarpMn;
  }
  static __device__ __forceinline__ constexpr int first_k(int thread) { return WarpPlace<Config>::k(thread / threadblock::kWarp) * Config::kWarpK; }

  static __device__ constexpr int at(int thread, int element) {
    int const lane = thread % threadblock::kWarp, word = element / Operand::kPerWord;
    int const mn = origin(thread) + mn_of_word(word) + mn_of_lane(lane);
    return mn * Config::kStep + k_of_word(word) + k_of_lane(lane) + element % Operand::kPerWord;
  }
};

// Map from (thread, load) to the row address that a lane provides to ldmatrix: the first word of
// the lanes that receive the row.
template <class Config, class Operand, bool AlongM>
struct MatrixLoads {
  using Fragment = OperandFragment<Config, Operand, AlongM>;
  static constexpr bool kTransposed = Operand::kLoad == WordLoad::Transposed;
  static constexpr int kRows = Config::kThreadsPerWarpSlice * Config::kWarpsK;
  static constexpr int kColumns = (Fragment::kWords + 3) / 4;

  static __device__ __forceinline__ constexpr int mn_of_lane(int lane) { return Fragment::mn_of_word(lane / 8) + (kTransposed ? 0 : lane % 8); }
  static __device__ __forceinline__ constexpr int k_of_lane(int lane) { return Fragment::k_of_word(lane / 8) + (kTransposed ? lane % 8 : 0); }
  static __device__ __forceinline__ constexpr int mn_of_load(int load) { return Fragment::mn_of_word(4 * load); }
  static __device__ __forceinline__ constexpr int k_of_load(int load) { return Fragment::k_of_word(4 * load); }

  static __device__ constexpr unsigned at(int thread, int load) {
    int const lane = thread % threadblock::kWarp;
    if (4 * load + lane / 8 >= Fragment::kWords) return index::kLeftOut;
    return (Fragment::origin(thread) + mn_of_lane(lane) + mn_of_load(load)) * Config::kStep + k_of_lane(lane) + k_of_load(load);
  }
};

// Address of a thread's access: the thread's part, computed once, and the access's part, a
// compile-time constant. In a swizzled tile, the two parts share neither the row bits that the
// swizzle reads nor any column bits. An XOR of both parts is therefore the XOR of their sum.
template <class Operand>
struct FragmentPlace {
  static constexpr int kSpan = Operand::kSwizzleBits == 0 ? 1 : 1 << (Operand::kSwizzleBits + Operand::kSwizzleBase);
  static __device__ __forceinline__ constexpr int moved(int row) {
    return Operand::kSwizzleBits == 0 ? 0 : ((row >> Operand::kSwizzleShift) & ((1 << Operand::kSwizzleBits) - 1)) << Operand::kSwizzleBase;
  }
  static __device__ __forceinline__ constexpr int row(int mn, int k) { return Operand::kAlongK ? mn : k; }
  static __device__ __forceinline__ constexpr int column(int mn, int k) { return Operand::kAlongK ? k : mn; }

  // The thread's part: whole spans, and the offset within one.
  static __device__ __forceinline__ constexpr int base(int mn, int k) { return row(mn, k) * Operand::kPitch + column(mn, k) / kSpan * kSpan; }
  static __device__ __forceinline__ constexpr int within(int mn, int k) { return column(mn, k) % kSpan ^ moved(row(mn, k)); }
  // The access's part.
  static __device__ __forceinline__ constexpr int access(int within, int mn, int k) {
    return row(mn, k) * Operand::kPitch + column(mn, k) / kSpan * kSpan + (within ^ (column(mn, k) % kSpan ^ moved(row(mn, k))));
  }
};

// Map from (thread, k-block and load of it, or element) to the offset in a stage from which the
// thread reads, in elements.
template <class Config, class Operand, bool AlongM>
struct FragmentReads {
  using Fragment = OperandFragment<Config, Operand, AlongM>;
  using Loads = MatrixLoads<Config, Operand, AlongM>;
  using Place = FragmentPlace<Operand>;
  static constexpr bool kMatrices = Operand::kLoad != WordLoad::Elements;
  static constexpr int kEach = kMatrices ? Loads::kColumns : Fragment::kColumns;
  // Domain of the fingerprint: as many warps as the compiler can evaluate, then as many k-blocks.
  static constexpr int kMost = Config::kMostReads, kWarps = kMost / kEach / threadblock::kWarp, kMostThreads = (kWarps < 1 ? 1 : kWarps) * threadblock::kWarp;
  static constexpr int kAll = Config::kThreadsPerWarpSlice * Config::kWarpsK, kRows = kAll < kMostThreads ? kAll : kMostThreads;
  static constexpr int kFit = kMost / (kRows * kEach), kBlocks = Config::kWarpK / Config::kStep;
  static constexpr int kColumns = (kFit < 1 ? 1 : kFit < kBlocks ? kFit : kBlocks) * kEach;

  // The thread's place in the block's tile, and the access's part.
  static __device__ __forceinline__ constexpr int mn(int thread) {
    int const lane = thread % threadblock::kWarp;
    return Fragment::origin(thread) + (kMatrices ? Loads::mn_of_lane(lane) : Fragment::mn_of_lane(lane));
  }
  static __device__ __forceinline__ constexpr int k(int thread) {
    int const lane = thread % threadblock::kWarp;
    return Fragment::first_k(thread) + (kMatrices ? Loads::k_of_lane(lane) : Fragment::k_of_lane(lane));
  }
  static __device__ __forceinline__ constexpr int mn_of(int i) { return kMatrices ? Loads::mn_of_load(i) : Fragment::mn_of_word(i / Operand::kPerWord); }
  static __device__ __forceinline__ constexpr int k_of(int i) {
    return kMatrices ? Loads::k_of_load(i) : Fragment::k_of_word(i / Operand::kPerWord) + i % Operand::kPerWord;
  }

  static __device__ constexpr unsigned at(int thread, int i) {
    if (kMatrices && 4 * (i % kEach) + thread % threadblock::kWarp / 8 >= Fragment::kWords) return index::kLeftOut;
    return Place::base(mn(thread), k(thread)) + Place::access(Place::within(mn(thread), k(thread)), mn_of(i % kEach), i / kEach * Config::kStep + k_of(i % kEach));
  }
};

// Loads Count words, one from each matrix of a warp's ldmatrix.
template <int Count, bool Transposed>
__device__ __forceinline__ void load_matrices(void const* row, unsigned (&word)[Count]) {
  unsigned const address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (Count == 4 && !Transposed) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "r"(address) : "memory");
  if constexpr (Count == 2 && !Transposed) asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "r"(address) : "memory");
  if constexpr (Count == 1 && !Transposed) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(word[0]) : "r"(address) : "memory");
  if constexpr (Count == 4 && Transposed) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "r"(address) : "memory");
  if constexpr (Count == 2 && Transposed) asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "r"(address) : "memory");
  if constexpr (Count == 1 && Transposed) asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(word[0]) : "r"(address) : "memory");
}

}  // namespace warp
