// Twin of src/warp/mma_sync/mod.rs: mma.sync.
#pragma once
#include "layout/index_map.cuh"
#include "numeric.cuh"
#include "numeric/emulation.cuh"
#include "numeric/transform.cuh"
#include "threadblock/smem.cuh"
#include "thread/transpose.cuh"
#include "threadblock/thread_map.cuh"
#include "warp/mma_sync/loads.cuh"
#include "warp/thread_tiles.cuh"

namespace warp {

// One thread's share of a warp tile: two fragments of A, one or two of B, and the accumulators, row
// by row.
template <class Config>
struct MmaTensorOp {
  using A = typename Config::A;
  using B = typename Config::B;
  using Accumulator = typename Config::Accumulator;
  using Instruction = typename Config::Instruction;
  using Word = typename Instruction::Word;
  // Whether accumulators and fragments leave few registers, so that other values are recomputed
  // instead of kept.
  static constexpr bool kFull = Config::kFragmentsOfB == 2;
  // Whether registers suffice to store whole rows if D contains all elements that a thread stores.
  static constexpr bool kStoresRows = true;
  // Whether copies to shared memory keep swizzled addresses if all of a thread's are swizzled
  // alike.
  static constexpr bool kSwizzlesOnce = true;
  // Rows and columns of a thread's accumulators, and whether lanes exchange them before they store
  // D.
  static constexpr int kThreadM = A::kThreadMn, kThreadN = B::kThreadMn;
  static constexpr bool kExchanges = Config::kExchanges;
  static constexpr bool kSaturates = Instruction::kSaturates;
  using ReadsA = FragmentReads<Config, A, true>;
  using ReadsB = FragmentReads<Config, B, false>;

  // Offset of an accumulator from the thread's first: runs of `Run` neighbors, `Lanes` runs apart.
  template <int Lanes, int Run>
  struct AccumulatorSide {
    static __device__ __forceinline__ constexpr int of_element(int i) { return i / Run * (Lanes * Run) + i % Run; }
  };
  using MapA = AccumulatorSide<A::kLanes, A::kInterleave>;
  using MapB = AccumulatorSide<B::kLanes, B::kInterleave>;
  // Lanes that share rows, and columns, of D. A part of a sum is a warp's share of a line.
  struct Lanes {
    static constexpr int kAcross = B::kLanes, kDown = A::kLanes;
    static __device__ __forceinline__ constexpr unsigned part_across(unsigned column) { return column / (B::kLanes * B::kThreadMn); }
    static __device__ __forceinline__ constexpr unsigned part_down(unsigned row) { return row / (A::kLanes * A::kThreadMn); }
    static __device__ __forceinline__ constexpr unsigned across(int place) { return place; }
    static __device__ __forceinline__ constexpr unsigned down(int place) { return place * B::kLanes; }
  };

  // Map from (thread, accumulator) to row * threadblock N + column.
  struct AccumulatorMap {
    static constexpr int kRows = Config::kThreadsPerWarpSlice;
    static constexpr int kColumns = A::kThreadMn * B::kThreadMn;
    static __device__ constexpr int at(int thread, int i) {
      int const row = row_of(thread) + MapA::of_element(i / B::kThreadMn), column = column_of(thread) + MapB::of_element(i % B::kThreadMn);
      return row * Config::kTileN + column;
    }
  };

  static __device__ __forceinline__ constexpr int row_of(int thread) { return ReadsA::Fragment::origin(thread) + thread % threadblock::kWarp / B::kLanes * A::kInterleave; }
  static __device__ __forceinline__ constexpr int column_of(int thread) { return ReadsB::Fragment::origin(thread) + thread % B::kLanes * B::kInterleave; }

  // f16 has two neighbors along N per register.
  static constexpr int kPacked = Config::kPacked;
  using Register = typename index::Either<kPacked == 2, f16x2, Accumulator>::Type;
  static constexpr int kAccumulators = A::kThreadMn * B::kThreadMn / kPacked;

  Word a[2][ReadsA::Fragment::kTiles][A::kInstructionWords];
  Word b[Config::kFragmentsOfB][ReadsB::Fragment::kTiles][B::kInstructionWords];
  Register accumulators[kAccumulators];
  // Sums of a tile, if they are promoted.
  Register sums[Instruction::kPromotes ? kAccumulators : 1];
  // Row and column of the thread's first accumulator.
  int mn_a, mn_b;
  // The thread's part of both operands in the stage being read, and the offset that the swizzle
  // changes.
  char const* from_a;
  char const* from_b;
  int within_a, within_b;

  __device__ __forceinline__ MmaTensorOp(char const* shared, int thread)
      : accumulators{}, mn_a(row_of(thread)), mn_b(column_of(thread)), from_a(begin<A, ReadsA>(shared, thread)), from_b(begin<B, ReadsB>(shared, thread)), within_a(ReadsA::Place::within(ReadsA::mn(thread), ReadsA::k(thread))), within_b(ReadsB::Place::within(ReadsB::mn(thread), ReadsB::k(thread))) {}

  // Advances to the next stage, `bytes` bytes away.
  __device__ __forceinline__ void advance(int bytes) {
    from_a += bytes;
    from_b += bytes;
    // Otherwise, the compiler would keep a sum of them for each load.
    if constexpr (kFull) asm volatile("" : "+r"(within_a), "+r"(within_b));
  }

  // Loads both fragments of a k-block.
  template <int Group>
  __device__ __forceinline__ void load() {
    load_a<Group>();
#pragma unroll
    for (int i = 0; i < kLoads<B, ReadsB>; ++i) load_one<B, ReadsB, Group>(from_b, within_b, i, of_b<Group>());
  }

  // Loads A's fragment of a k-block.
  template <int Group>
  __device__ __forceinline__ void load_a() {
#pragma unroll
    for (int i = 0; i < kLoads<A, ReadsA>; ++i) load_one<A, ReadsA, Group>(from_a, within_a, i, a[Group % 2]);
  }

  // Multiplies a k-block.
  template <int Group>
  __device__ __forceinline__ void multiply() {
    multiply_columns<Group>([](int) {});
  }

  // Multiplies a k-block and loads B's fragment of the next one if it exists. Each load follows the
  // last product that reads the words it overwrites.
  template <int Group, int Next>
  __device__ __forceinline__ void multiply_load(bool there) {
    static_assert(Config::kFragmentsOfB == 1, "two are loaded ahead");
    multiply_columns<Group>([&](int j) { load_behind<Next>(j, there); });
  }

  // Words per load of B, and the column of instructions to which the last of them belongs.
  static constexpr int kWordsOfLoad = ReadsB::kMatrices ? 4 : 1;
  static __device__ __forceinline__ constexpr int last_column(int load) {
    constexpr int words = ReadsB::Fragment::kWords;
    int const behind = (load + 1) * kWordsOfLoad;
    return ((behind < words ? behind : words) - 1) / B::kInstructionWords;
  }

  static __device__ __forceinline__ constexpr int place(int i) { return i; }

  // Returns an accumulator; their order is row by row.
  __device__ __forceinline__ Accumulator accumulator(int i) const {
    if constexpr (kPacked == 2) return half_of(accumulators[i / 2], i % 2);
    else return accumulators[i];
  }

  // Replaces an accumulator.
  __device__ __forceinline__ void set(int i, Accumulator value) {
    if constexpr (kPacked == 2) put_half(accumulators[i / 2], i % 2, value);
    else accumulators[i] = value;
  }

 private:
  template <class Operand, class Reads>
  static __device__ __forceinline__ char const* begin(char const* shared, int thread) {
    return shared + Operand::kStageOffset + Reads::Place::base(Reads::mn(thread), Reads::k(thread)) * int(sizeof(typename Operand::Element));
  }

  // Returns B's fragment of a k-block.
  template <int Group>
  __device__ __forceinline__ auto of_b() -> Word (&)[ReadsB::Fragment::kTiles][B::kInstructionWords] {
    return b[Group % Config::kFragmentsOfB];
  }

  // Multiplies a k-block column by column, and calls `behind` after each column. The row direction
  // alternates, so consecutive products share an operand.
  template <int Group, class Behind>
  __device__ __forceinline__ void multiply_columns(Behind behind) {
    constexpr int down = ReadsA::Fragment::kTiles, across = ReadsB::Fragment::kTiles;
    if constexpr (Instruction::kTransforms) {
      multiply_terms<Group>(behind);
    } else {
#pragma unroll
      for (int j = 0; j < across; ++j) {
#pragma unroll
        for (int step = 0; step < down; ++step) {
          int const i = j % 2 == 0 ? step : down - 1 - step;
          multiply_one(i, j, a[Group % 2][i], of_b<Group>()[j]);
        }
        behind(j);
      }
    }
  }

  // Multiplies a k-block of transformed operands. The transform of A is applied once, and that of a
  // column of B before its products. Each product of terms is computed for all rows before the next
  // one, so consecutive instructions have different accumulators. With promotion, the sums of a
  // tile begin at 0 and are added to the accumulators.
  template <int Group, class Behind>
  __device__ __forceinline__ void multiply_terms(Behind behind) {
    using Facts = typename Instruction::Facts;
    constexpr int down = ReadsA::Fragment::kTiles, across = ReadsB::Fragment::kTiles;
    typename Instruction::template TermsA<A::kInstructionWords, A::kInstructionMn / 8> terms_a[down];
#pragma unroll
    for (int i = 0; i < down; ++i) terms_a[i].take(a[Group % 2][i]);
#pragma unroll
    for (int j = 0; j < across; ++j) {
      typename Instruction::template TermsB<B::kInstructionWords, B::kInstructionMn / 8> terms_b;
      terms_b.take(of_b<Group>()[j]);
      if constexpr (Instruction::kPromotes && Group == 0) {
        each_of_column(j, [&](int at) { sums[at] = 0; });
      }
#pragma unroll
      for (unsigned product = 0; product < Facts::kProducts; ++product) {
#pragma unroll
        for (int i = 0; i < down; ++i) multiply_one(i, j, terms_a[i].term[numeric::term_of<Facts, 0>(product)], terms_b.term[numeric::term_of<Facts, 1>(product)]);
      }
      if constexpr (Instruction::kPromotes && Group == Config::kWarpK / Config::kStep - 1) {
        each_of_column(j, [&](int at) { accumulators[at] = plus(accumulators[at], sums[at]); });
      }
      behind(j);
    }
  }

  // Issues the loads of B's next fragment whose last words belong to this column. If all loads have
  // equally many words, loop bounds select them, because the assembler orders guarded loads
  // differently.
  template <int Next>
  __device__ __forceinline__ void load_behind(int j, bool there) {
    constexpr int across = ReadsB::Fragment::kTiles, loads = kLoads<B, ReadsB>;
    constexpr bool alike = ReadsB::Fragment::kWords % kWordsOfLoad == 0 || loads == 1;
    if constexpr (alike) {
#pragma unroll
      for (int i = j * loads / across; i < (j + 1) * loads / across; ++i)
        if (there) load_one<B, ReadsB, Next>(from_b, within_b, i, of_b<Next>());
    } else {
#pragma unroll
      for (int i = 0; i < loads; ++i)
        if (last_column(i) == j && there) load_one<B, ReadsB, Next>(from_b, within_b, i, of_b<Next>());
    }
  }

  // Registers of one instruction tile of accumulators: its rows are eight apart, with neighbors in
  // each.
  static constexpr int kEach = 2 / kPacked, kOfTile = A::kInstructionMn / 8 * kEach;
  static __device__ __forceinline__ constexpr int register_place(int i, int j, int r) {
    return (i * (A::kInstructionMn / 8) + r / kEach) * (B::kThreadMn / kPacked) + j * kEach + r % kEach;
  }
  // Returns the registers to which products are added.
  __device__ __forceinline__ auto totals() -> Register (&)[kAccumulators] {
    if constexpr (Instruction::kPromotes) return sums;
    else return accumulators;
  }
  template <class Do>
  static __device__ __forceinline__ void each_of_column(int j, Do const& with) {
#pragma unroll
    for (int i = 0; i < ReadsA::Fragment::kTiles; ++i)
#pragma unroll
      for (int r = 0; r < kOfTile; ++r) with(register_place(i, j, r));
  }
  template <class OfA, class OfB>
  __device__ __forceinline__ void multiply_one(int i, int j, OfA const& of_a, OfB const& of_b) {
    auto& to = totals();
    typename Instruction::Register d[kOfTile];
#pragma unroll
    for (int r = 0; r < kOfTile; ++r) d[r] = register_of(to[register_place(i, j, r)]);
    Instruction::multiply(d, of_a, of_b);
#pragma unroll
    for (int r = 0; r < kOfTile; ++r) put(to[register_place(i, j, r)], d[r]);
  }

  static __device__ __forceinline__ typename Instruction::Register register_of(Register const& from) {
    if constexpr (kPacked == 2) return *reinterpret_cast<unsigned const*>(&from);
    else return from;
  }
  static __device__ __forceinline__ void put(Register& to, typename Instruction::Register from) {
    if constexpr (kPacked == 2) *reinterpret_cast<unsigned*>(&to) = from;
    else to = from;
  }

  // Returns the address of an access of a k-block.
  template <class Operand, class Reads, int Group>
  static __device__ __forceinline__ char const* place(char const* from, int within, int i) {
    return from + Reads::Place::access(within, Reads::mn_of(i), Group * Config::kStep + Reads::k_of(i)) * int(sizeof(typename Operand::Element));
  }

  // Number of loads of a fragment: up to four words by ldmatrix, or one word each.
  template <class Operand, class Reads>
  static constexpr int kLoads = Reads::kMatrices ? Reads::kEach : Reads::Fragment::kWords;

  template <class Operand, class Reads, int Group, int Tiles>
  __device__ __forceinline__ void load_one(char const* from, int within, int i, Word (&fragment)[Tiles][Operand::kInstructionWords]) {
    constexpr int words = Reads::Fragment::kWords, of_instruction = Operand::kInstructionWords;
    if constexpr (Reads::kMatrices) {
      constexpr bool transposed = Reads::Loads::kTransposed;
      constexpr int last = words % 4 == 0 ? 4 : words % 4;
      auto const load = [&](auto& word) {
        constexpr int count = sizeof(word) / sizeof(word[0]);
        load_matrices<count, transposed>(place<Operand, Reads, Group>(from, within, i), word);
#pragma unroll
        for (int w = 0; w < count; ++w) fragment[(4 * i + w) / of_instruction][(4 * i + w) % of_instruction] = word[w];
      };
      if (4 * i + 4 <= words) {
        unsigned word[4];
        load(word);
      } else {
        unsigned word[last];
        load(word);
      }
    } else {
      fragment[i / of_instruction][i % of_instruction] = word_of<Operand, Reads, Group>(from, within, i);
    }
  }

  // Returns a word assembled from elements that are not neighbors.
  template <class Operand, class Reads, int Group>
  __device__ __forceinline__ Word word_of(char const* from, int within, int w) {
    constexpr int per_word = Operand::kPerWord;
    if constexpr (per_word == 1) {
      return *reinterpret_cast<Word const*>(place<Operand, Reads, Group>(from, within, w));
    } else {
      static_assert(per_word == 4, "words of halves come by ldmatrix");
      unsigned byte[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) byte[j] = *reinterpret_cast<unsigned char const*>(place<Operand, Reads, Group>(from, within, w * per_word + j));
      return thread::permute(thread::permute(byte[0], byte[1], 0x0040u), thread::permute(byte[2], byte[3], 0x0040u), 0x5410u);
    }
  }
};

}  // namespace warp
