// Twin of src/warp/mma_tensor_op/mod.rs: mma.sync, and how its fragments come from shared memory. That of src/warp/mma_tensor_op/loads.rs, too.
#pragma once
#include "index.cuh"
#include "numeric.cuh"
#include "numeric/emulation.cuh"
#include "smem.cuh"
#include "thread/turn.cuh"
#include "threadblock/thread_map.cuh"
#include "warp/mma_simt.cuh"

namespace warp {

// How a fragment's words come from shared memory: by ldmatrix, by ldmatrix transposed, or element by element.
enum class WordLoad { Matrices, Transposed, Elements };

// The map (thread, element) of a k-block to mn * instruction K + k. A word's place is that of its lane, and what its number adds.
template <class Config, class Operand, bool AlongM>
struct OperandFragment {
  static constexpr int kEights = Operand::kInstructionMn / 8;
  static constexpr int kOfInstruction = Operand::kInstructionWords;
  static constexpr int kTiles = Operand::kWarpMn / Operand::kInstructionMn;
  static constexpr int kWords = kTiles * kOfInstruction;
  static constexpr int kRows = Config::kThreads;
  static constexpr int kColumns = kWords * Operand::kPerWord;

  static __device__ __forceinline__ constexpr int mn_of_word(int word) { return word / kOfInstruction * Operand::kInstructionMn + word % kOfInstruction % kEights * 8; }
  static __device__ __forceinline__ constexpr int k_of_word(int word) { return word % kOfInstruction / kEights * 4 * Operand::kPerWord; }
  static __device__ __forceinline__ constexpr int mn_of_lane(int lane) { return lane / 4; }
  static __device__ __forceinline__ constexpr int k_of_lane(int lane) { return lane % 4 * Operand::kPerWord; }

  // Where the tile of a thread's warp begins, and its slice of K.
  static __device__ __forceinline__ constexpr int origin(int thread) {
    int const warp = thread / threadblock::kWarp;
    return (AlongM ? WarpPlace<Config>::m(warp) : WarpPlace<Config>::n(warp)) * Operand::kWarpMn;
  }
  static __device__ __forceinline__ constexpr int slice(int thread) { return WarpPlace<Config>::k(thread / threadblock::kWarp) * Config::kWarpK; }

  static __device__ constexpr int at(int thread, int element) {
    int const lane = thread % threadblock::kWarp, word = element / Operand::kPerWord;
    int const mn = origin(thread) + mn_of_word(word) + mn_of_lane(lane);
    return mn * Config::kStep + k_of_word(word) + k_of_lane(lane) + element % Operand::kPerWord;
  }
};

// The map (thread, load) to where the row begins that a lane says to ldmatrix: the first word of the lanes that receive it.
template <class Config, class Operand, bool AlongM>
struct MatrixLoads {
  using Fragment = OperandFragment<Config, Operand, AlongM>;
  static constexpr bool kTransposed = Operand::kLoad == WordLoad::Transposed;
  static constexpr int kRows = Config::kThreads;
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

// Where a thread reads: its own part, computed once, and what each access adds to it, known while compiling. Of an operand's tile, rows of which a swizzle moves: bits of
// rows that it reads, and bits of columns, that the two parts have are not the same, so that an XOR of both is the XOR of their sum.
template <class Operand>
struct FragmentPlace {
  static constexpr int kSpan = Operand::kSwizzleBits == 0 ? 1 : 1 << (Operand::kSwizzleBits + Operand::kSwizzleBase);
  static __device__ __forceinline__ constexpr int moved(int row) {
    return Operand::kSwizzleBits == 0 ? 0 : ((row >> Operand::kSwizzleShift) & ((1 << Operand::kSwizzleBits) - 1)) << Operand::kSwizzleBase;
  }
  static __device__ __forceinline__ constexpr int row(int mn, int k) { return Operand::kAlongK ? mn : k; }
  static __device__ __forceinline__ constexpr int column(int mn, int k) { return Operand::kAlongK ? k : mn; }

  // The thread's part: whole spans, and what is within one.
  static __device__ __forceinline__ constexpr int base(int mn, int k) { return row(mn, k) * Operand::kPitch + column(mn, k) / kSpan * kSpan; }
  static __device__ __forceinline__ constexpr int within(int mn, int k) { return column(mn, k) % kSpan ^ moved(row(mn, k)); }
  // An access's.
  static __device__ __forceinline__ constexpr int access(int within, int mn, int k) {
    return row(mn, k) * Operand::kPitch + column(mn, k) / kSpan * kSpan + (within ^ (column(mn, k) % kSpan ^ moved(row(mn, k))));
  }
};

// The map (thread, k-block and load of it, or element) to the offset in a stage from which the thread reads, in elements.
template <class Config, class Operand, bool AlongM>
struct FragmentReads {
  using Fragment = OperandFragment<Config, Operand, AlongM>;
  using Loads = MatrixLoads<Config, Operand, AlongM>;
  using Place = FragmentPlace<Operand>;
  static constexpr bool kMatrices = Operand::kLoad != WordLoad::Elements;
  static constexpr int kEach = kMatrices ? Loads::kColumns : Fragment::kColumns;
  // Of as many warps as a compiler evaluates, and then of as many k-blocks.
  static constexpr int kMost = Config::kMostReads, kWarps = kMost / kEach / threadblock::kWarp, kMostThreads = (kWarps < 1 ? 1 : kWarps) * threadblock::kWarp;
  static constexpr int kRows = Config::kThreads < kMostThreads ? Config::kThreads : kMostThreads;
  static constexpr int kFit = kMost / (kRows * kEach), kBlocks = Config::kWarpK / Config::kStep;
  static constexpr int kColumns = (kFit < 1 ? 1 : kFit < kBlocks ? kFit : kBlocks) * kEach;

  // The thread's place in the block's tile, and what an access adds.
  static __device__ __forceinline__ constexpr int mn(int thread) {
    int const lane = thread % threadblock::kWarp;
    return Fragment::origin(thread) + (kMatrices ? Loads::mn_of_lane(lane) : Fragment::mn_of_lane(lane));
  }
  static __device__ __forceinline__ constexpr int k(int thread) {
    int const lane = thread % threadblock::kWarp;
    return Fragment::slice(thread) + (kMatrices ? Loads::k_of_lane(lane) : Fragment::k_of_lane(lane));
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

// The map (thread, k-block) to its first k.
template <class Config>
struct StepMap {
  static constexpr int kRows = Config::kThreads;
  static constexpr int kColumns = Config::kWarpK / Config::kStep;
  static __device__ __forceinline__ constexpr int at(int thread, int group) {
    return WarpPlace<Config>::k(thread / threadblock::kWarp) * Config::kWarpK + group * Config::kStep;
  }
};

// Count words, one of each matrix of a warp's ldmatrix.
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

// One thread's share of a warp's tile: two fragments of A, one of B or two, and its accumulators, row by row of what they belong to.
template <class Config>
struct MmaTensorOp {
  using A = typename Config::A;
  using B = typename Config::B;
  using Accumulator = typename Config::Accumulator;
  using Instruction = typename Config::Instruction;
  using Word = typename Instruction::Word;
  // Whether copies to shared memory keep addresses that are swizzled, where all of a thread's are swizzled alike.
  static constexpr bool kSwizzlesOnce = true;
  // Rows and columns of a thread's accumulators, and whether lanes exchange them on their way to D.
  static constexpr int kThreadM = A::kThreadMn, kThreadN = B::kThreadMn;
  static constexpr bool kExchanges = Config::kExchanges;
  static constexpr bool kSaturates = Instruction::kSaturates;
  using ReadsA = FragmentReads<Config, A, true>;
  using ReadsB = FragmentReads<Config, B, false>;

  // Where an accumulator belongs, from the thread's first on: `Run` neighbours, and `Lanes` runs further the next.
  template <int Lanes, int Run>
  struct AccumulatorSide {
    static __device__ __forceinline__ constexpr int of_element(int i) { return i / Run * (Lanes * Run) + i % Run; }
  };
  using MapA = AccumulatorSide<A::kLanes, A::kInterleave>;
  using MapB = AccumulatorSide<B::kLanes, B::kInterleave>;

  // The map (thread, accumulator) to row * threadblock N + column.
  struct AccumulatorMap {
    static constexpr int kRows = Config::kThreadsPerSlice;
    static constexpr int kColumns = A::kThreadMn * B::kThreadMn;
    static __device__ constexpr int at(int thread, int i) {
      int const row = row_of(thread) + MapA::of_element(i / B::kThreadMn), column = column_of(thread) + MapB::of_element(i % B::kThreadMn);
      return row * Config::kTileN + column;
    }
  };

  static __device__ __forceinline__ constexpr int row_of(int thread) { return ReadsA::Fragment::origin(thread) + thread % threadblock::kWarp / B::kLanes * A::kInterleave; }
  static __device__ __forceinline__ constexpr int column_of(int thread) { return ReadsB::Fragment::origin(thread) + thread % B::kLanes * B::kInterleave; }

  // Halves lie two in one register, neighbours along N.
  static constexpr int kPacked = Config::kPacked;
  using Register = typename index::Either<kPacked == 2, f16x2, Accumulator>::Type;
  static constexpr int kAccumulators = A::kThreadMn * B::kThreadMn / kPacked;

  Word a[2][ReadsA::Fragment::kTiles][A::kInstructionWords];
  Word b[Config::kFragmentsOfB][ReadsB::Fragment::kTiles][B::kInstructionWords];
  Register accumulators[kAccumulators];
  // The thread's first accumulator.
  int mn_a, mn_b;
  // The thread's part of both operands, in the stage that is read, and what a swizzle moves of it.
  char const* from_a;
  char const* from_b;
  int within_a, within_b;

  __device__ __forceinline__ MmaTensorOp(char const* shared, int thread)
      : accumulators{}, mn_a(row_of(thread)), mn_b(column_of(thread)), from_a(begin<A, ReadsA>(shared, thread)), from_b(begin<B, ReadsB>(shared, thread)), within_a(ReadsA::Place::within(ReadsA::mn(thread), ReadsA::k(thread))), within_b(ReadsB::Place::within(ReadsB::mn(thread), ReadsB::k(thread))) {}

  // On to the next stage, so many bytes away.
  __device__ __forceinline__ void advance(int bytes) {
    from_a += bytes;
    from_b += bytes;
    if constexpr (Config::kFragmentsOfB == 2) asm volatile("" : "+r"(within_a), "+r"(within_b));
  }

  // Both fragments of a k-block.
  template <int Group>
  __device__ __forceinline__ void load() {
    load_a<Group>();
#pragma unroll
    for (int i = 0; i < kLoads<B, ReadsB>; ++i) load_one<B, ReadsB, Group>(from_b, within_b, i, of_b<Group>());
  }

  // A's.
  template <int Group>
  __device__ __forceinline__ void load_a() {
#pragma unroll
    for (int i = 0; i < kLoads<A, ReadsA>; ++i) load_one<A, ReadsA, Group>(from_a, within_a, i, a[Group % 2]);
  }

  // Products of a k-block.
  template <int Group>
  __device__ __forceinline__ void multiply() {
    multiply_columns<Group>([](int) {});
  }

  // The same, and B's fragment of the next one where there is one, each load behind the last product that takes what it overwrites.
  template <int Group, int Next>
  __device__ __forceinline__ void multiply_load(bool there) {
    static_assert(Config::kFragmentsOfB == 1, "two are loaded ahead");
    multiply_columns<Group>([&](int j) { load_behind<Next>(j, there); });
  }

  // Words that a load of B brings, and the column of instructions that the last of them belongs to.
  static constexpr int kWordsOfLoad = ReadsB::kMatrices ? 4 : 1;
  static __device__ __forceinline__ constexpr int last_column(int load) {
    constexpr int words = ReadsB::Fragment::kWords;
    int const behind = (load + 1) * kWordsOfLoad;
    return ((behind < words ? behind : words) - 1) / B::kInstructionWords;
  }

  static __device__ __forceinline__ constexpr int place(int i) { return i; }

  // One of the accumulators, rows of which lie one behind the other.
  __device__ __forceinline__ Accumulator accumulator(int i) const {
    if constexpr (kPacked == 2) return half_of(accumulators[i / 2], i % 2);
    else return accumulators[i];
  }

  // Puts a number in the place of one of them.
  __device__ __forceinline__ void set(int i, Accumulator value) {
    if constexpr (kPacked == 2) put_half(accumulators[i / 2], i % 2, value);
    else accumulators[i] = value;
  }

 private:
  template <class Operand, class Reads>
  static __device__ __forceinline__ char const* begin(char const* shared, int thread) {
    return shared + Operand::kStageOffset + Reads::Place::base(Reads::mn(thread), Reads::k(thread)) * int(sizeof(typename Operand::Element));
  }

  // B's fragment of a k-block.
  template <int Group>
  __device__ __forceinline__ auto of_b() -> Word (&)[ReadsB::Fragment::kTiles][B::kInstructionWords] {
    return b[Group % Config::kFragmentsOfB];
  }

  // Products of a k-block, column by column, and what is done behind each. Rows run to and fro, so that two products in a row share an operand.
  template <int Group, class Behind>
  __device__ __forceinline__ void multiply_columns(Behind behind) {
    constexpr int down = ReadsA::Fragment::kTiles, across = ReadsB::Fragment::kTiles;
    if constexpr (Instruction::kEmulated) {
      multiply_parts<Group>(behind);
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

  // The same of parts of f32: those of A are made once, and those of a column of B before its products. One product of parts is made for all rows
  // before the next one, so that no two instructions in a row have the same accumulators.
  template <int Group, class Behind>
  __device__ __forceinline__ void multiply_parts(Behind behind) {
    using Facts = typename Instruction::Facts;
    constexpr int down = ReadsA::Fragment::kTiles, across = ReadsB::Fragment::kTiles;
    typename Instruction::template Parts<A::kInstructionWords, A::kInstructionMn / 8> parts_a[down];
#pragma unroll
    for (int i = 0; i < down; ++i) parts_a[i].take(a[Group % 2][i]);
#pragma unroll
    for (int j = 0; j < across; ++j) {
      typename Instruction::template Parts<B::kInstructionWords, B::kInstructionMn / 8> parts_b;
      parts_b.take(of_b<Group>()[j]);
#pragma unroll
      for (unsigned product = 0; product < Facts::kProducts; ++product) {
#pragma unroll
        for (int i = 0; i < down; ++i) multiply_one(i, j, parts_a[i].part[numeric::part_of<Facts, 0>(product)], parts_b.part[numeric::part_of<Facts, 1>(product)]);
      }
      behind(j);
    }
  }

  // Loads of B's next fragment whose last words belong to this column: by bounds where all bring as many, since the assembler orders what is guarded otherwise.
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

  // The registers of one instruction's tile of accumulators: its rows are eight apart, with neighbours in each.
  template <class OfA, class OfB>
  __device__ __forceinline__ void multiply_one(int i, int j, OfA const& of_a, OfB const& of_b) {
    constexpr int rows = A::kInstructionMn / 8, each = 2 / kPacked, columns = B::kThreadMn / kPacked;
    typename Instruction::Register d[rows * each];
#pragma unroll
    for (int r = 0; r < rows * each; ++r) d[r] = register_of(accumulators[(i * rows + r / each) * columns + j * each + r % each]);
    Instruction::multiply(d, of_a, of_b);
#pragma unroll
    for (int r = 0; r < rows * each; ++r) put(accumulators[(i * rows + r / each) * columns + j * each + r % each], d[r]);
  }

  static __device__ __forceinline__ typename Instruction::Register register_of(Register const& from) {
    if constexpr (kPacked == 2) return *reinterpret_cast<unsigned const*>(&from);
    else return from;
  }
  static __device__ __forceinline__ void put(Register& to, typename Instruction::Register from) {
    if constexpr (kPacked == 2) *reinterpret_cast<unsigned*>(&to) = from;
    else to = from;
  }

  // Where an access of a k-block reads.
  template <class Operand, class Reads, int Group>
  static __device__ __forceinline__ char const* place(char const* from, int within, int i) {
    return from + Reads::Place::access(within, Reads::mn_of(i), Group * Config::kStep + Reads::k_of(i)) * int(sizeof(typename Operand::Element));
  }

  // Loads of a fragment: of up to four words by ldmatrix, or of one.
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

  // A word, from elements that are not neighbours.
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
