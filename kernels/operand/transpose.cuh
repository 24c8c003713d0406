// Twin of src/operand/transpose: D = Aᵀ, or D = alpha Aᵀ + beta C, one tile per CTA.
#pragma once
#include "config.cuh"
#include "layout/index_map.cuh"
#include "schedule.cuh"
#include "thread/access.cuh"
#include "thread/transpose.cuh"
#include "threadblock/smem.cuh"
#include "threadblock/swizzle.cuh"

namespace pass {

// Map from (thread, step) to the index of a piece: line * kPieces + piece of the line.
template <int Threads, int Lines, int Pieces, bool Across>
struct PieceMap {
  static constexpr int kRows = Threads;
  static constexpr int kColumns = (Lines * Pieces + Threads - 1) / Threads;

  // Pieces that consecutive threads take before the next line, or column of pieces, begins: a part
  // of the block, or a whole number of blocks. Per-thread values are separate from compile-time
  // values.
  static constexpr int kRun = Across ? Lines : Pieces;
  static constexpr int kBlocks = kRun > Threads ? kRun / Threads : 1;
  static constexpr bool kEven = Threads % kRun == 0 || kRun % Threads == 0;
  static __device__ __forceinline__ constexpr int slow(int thread, int step) {
    if (!kEven) return (thread + step * Threads) / kRun;
    return Threads >= kRun ? thread / kRun + step * (Threads / kRun) : step / kBlocks;
  }
  static __device__ __forceinline__ constexpr int fast(int thread, int step) {
    if (!kEven) return (thread + step * Threads) % kRun;
    return Threads >= kRun ? thread % kRun : thread + step % kBlocks * Threads;
  }
  static __device__ __forceinline__ constexpr bool has(int thread, int step) {
    return Lines * Pieces % Threads == 0 || thread + step * Threads < Lines * Pieces;
  }
  static __device__ __forceinline__ constexpr int line(int thread, int step) { return Across ? fast(thread, step) : slow(thread, step); }
  static __device__ __forceinline__ constexpr int piece(int thread, int step) { return Across ? slow(thread, step) : fast(thread, step); }
  static __device__ constexpr unsigned at(int thread, int step) {
    return has(thread, step) ? line(thread, step) * Pieces + piece(thread, step) : index::kLeftOut;
  }
};

// Map from (line, element of its accesses) to an offset in elements. Each group of lines begins a
// skew further on.
template <int Lines, int Pitch, int Group, int Skew>
struct GatheredTile {
  static constexpr int kRows = Lines, kColumns = Pitch;
  static __device__ __forceinline__ constexpr int at(int line, int element) { return line * Pitch + line / Group * Skew + element; }
};

}  // namespace pass

// Index maps with a Rust twin, with the names of src/operand/transpose/program.rs.
namespace maps {
// If rows are gathered, the lines hold all elements that a row of D needs. A line may end in the
// middle of an access.
constexpr int kLines = Config::kGathered ? Config::kTileRows + Config::kWriteAlignment - 1 : Config::kTileRows / Config::kThreadRows;
constexpr int kPieces = Config::kTileColumns / Config::kAccessA + (Config::kGathered ? 1 : 0);
using fetch = pass::PieceMap<Config::kThreads, kLines, kPieces, false>;
using write = pass::PieceMap<Config::kThreads, Config::kTileColumns, Config::kTileRows / Config::kAccessD, Config::kAcross>;
using smem = index::Either<Config::kGathered, pass::GatheredTile<kLines, kPieces * Config::kAccessA, Config::kAccessD, Config::kStored>,
                            smem::SmemTile<Config::Tile>>::Type;
}  // namespace maps

extern __shared__ __align__(16) char shared_memory[];

namespace pass {

// 1 to 16 bytes, with the type of a shared-memory access.
template <int Bytes> struct Piece;
template <> struct Piece<1> { using Type = unsigned char; };
template <> struct Piece<2> { using Type = unsigned short; };
template <> struct Piece<4> { using Type = unsigned; };
template <> struct Piece<8> { using Type = uint2; };
template <> struct Piece<16> { using Type = uint4; };

// Tile that threads transpose, a few rows at a time: in registers, and through shared memory if it
// is staged.
template <class Config>
struct RegisterTile {
  static constexpr int kBytes = Config::kElementBytes;
  static constexpr int kThreadRows = Config::kThreadRows, kAccessA = Config::kAccessA, kAccessD = Config::kAccessD;
  using Fetch = maps::fetch;
  using Write = maps::write;
  using Smem = maps::smem;
  using Row = thread::Words<kAccessA * kBytes>;
  using Column = thread::Words<kThreadRows * kBytes>;
  using Stored = thread::Words<kAccessD * kBytes>;
  // Without shared memory, a thread stores what it has transposed.
  static constexpr int kStores = Config::kStaged ? Write::kColumns : Fetch::kColumns * kAccessA;

  TransposeParams const& params;
  int const thread;
  // The matrices and the tile of the block.
  char const *a, *c;
  char* d;
  int row, column;
  Row rows[Fetch::kColumns][kThreadRows];
  Stored source[Config::kLinear ? kStores : 1];

  __device__ __forceinline__ explicit RegisterTile(TransposeParams const& params) : params(params), thread(threadIdx.x) {
    auto const [matrix, block] = index::block_of_matrix(params.tiles_down * params.tiles_across);
    auto const tile = threadblock::tile_of<Config::Order>(block, params.tiles_down, params.tiles_across);
    a = reinterpret_cast<char const*>(params.a) + matrix * params.stride_a * kBytes;
    c = reinterpret_cast<char const*>(params.c) + matrix * params.stride_c * kBytes;
    d = reinterpret_cast<char*>(params.d) + matrix * params.stride_d * kBytes;
    row = tile.column * Config::kTileRows;
    column = tile.row * Config::kTileColumns;
  }

  // Returns the destination of the thread's store `number`: row `at(0)` and column `at(1)` of D, as
  // offsets in the tile.
  static __device__ __forceinline__ int tile_column(int thread, int number) {
    if constexpr (Config::kStaged) return Write::line(thread, number);
    return Fetch::piece(thread, number / kAccessA) * kAccessA + number % kAccessA;
  }
  static __device__ __forceinline__ int tile_row(int thread, int number) {
    if constexpr (Config::kStaged) return Write::piece(thread, number) * kAccessD;
    return Fetch::line(thread, number / kAccessA) * kThreadRows;
  }

  // Unless rows are gathered, extents are multiples of accesses, so partial accesses do not exist.
  __device__ __forceinline__ bool exists(int down, int across) const { return down < params.rows && across < params.columns; }

  __device__ __forceinline__ void fetch() {
    if (!Config::kLinear || params.reads_a) {
#pragma unroll
      for (int step = 0; step < Fetch::kColumns; ++step) {
        int const across = column + Fetch::piece(thread, step) * kAccessA;
        int const down = row + Fetch::line(thread, step) * kThreadRows;
        char const* const first = a + (down * params.lda + across) * kBytes;
#pragma unroll
        for (int i = 0; i < kThreadRows; ++i) {
          char const* const address = first + i * params.lda * kBytes;
          if (!exists(down + i, across)) continue;
          rows[step][i] = thread::read<kAccessA * kBytes, Config::kReadOnce>(address);
        }
      }
    }
    if constexpr (Config::kLinear) {
      if (params.reads_c) {
#pragma unroll
        for (int number = 0; number < kStores; ++number) {
          int const down = row + tile_row(thread, number), across = column + tile_column(thread, number);
          // C may be D: this thread is about to overwrite what it reads.
          if (exists(down, across)) source[number] = thread::read<kAccessD * kBytes, false>(c + (across * params.ldc + down) * kBytes);
        }
      }
    }
  }

  __device__ __forceinline__ void store() {
#pragma unroll
    for (int step = 0; step < Fetch::kColumns; ++step) {
#pragma unroll
      for (int i = 0; i < kAccessA; ++i) {
        Column const column = thread::take_column<kBytes, kThreadRows, kAccessA>(rows[step], i);
        int const offset = Smem::at(Fetch::line(thread, step) * kThreadRows, Fetch::piece(thread, step) * kAccessA + i);
        using Type = typename Piece<kThreadRows * kBytes>::Type;
        Type& place = *reinterpret_cast<Type*>(shared_memory + offset * kBytes);
        if constexpr (kThreadRows * kBytes == 16) place = Type{column.word[0], column.word[1], column.word[2], column.word[3]};
        else if constexpr (kThreadRows * kBytes == 8) place = Type{column.word[0], column.word[1]};
        else place = Type(column.word[0]);
      }
    }
  }

  __device__ __forceinline__ Stored taken(int number) const {
    if constexpr (!Config::kStaged) return thread::take_column<kBytes, kThreadRows, kAccessA>(rows[number / kAccessA], number % kAccessA);
    using Type = typename Piece<kAccessD * kBytes>::Type;
    int const offset = Smem::at(tile_row(thread, number), tile_column(thread, number));
    Type const piece = *reinterpret_cast<Type const*>(shared_memory + offset * kBytes);
    Stored taken;
    if constexpr (kAccessD * kBytes == 16) taken.word[2] = piece.z, taken.word[3] = piece.w;
    if constexpr (kAccessD * kBytes >= 8) taken.word[0] = piece.x, taken.word[1] = piece.y;
    else taken.word[0] = piece;
    return taken;
  }

  __device__ __forceinline__ void write() {
#pragma unroll
    for (int number = 0; number < kStores; ++number) {
      int const down = row + tile_row(thread, number), across = column + tile_column(thread, number);
      Stored value = taken(number);
      if constexpr (Config::kLinear) value = Config::Combine::apply(value, source[number], params);
      if (exists(down, across)) thread::write<kAccessD * kBytes, Config::kWriteStream>(d + (across * params.ldd + down) * kBytes, value);
    }
  }
};

// Tile that is gathered. Rows of A are staged as the aligned accesses that contain them, with a
// different begin each. Threads read elements one by one and write aligned accesses of D. For
// bytes, lanes whose accesses begin at different offsets would read other lines on the same banks.
// Every lane therefore reads its sixteen elements in the order of their line numbers modulo 16, and
// rotates them into place.
template <class Config>
struct Gather {
  static constexpr int kBytes = Config::kElementBytes;
  static constexpr int kAccessA = Config::kAccessA, kAccessD = Config::kAccessD;
  // The first line is the row this far before the tile.
  static constexpr int kWriteAlignment = Config::kWriteAlignment, kBefore = kWriteAlignment - 1;
  using Fetch = maps::fetch;
  using Write = maps::write;
  using Smem = maps::smem;
  using Line = thread::Words<kAccessA * kBytes>;
  using Stored = thread::Words<kAccessD * kBytes>;
  using Element = typename Piece<kBytes>::Type;
  // A thread's pieces of D lie in one column of pieces. Their distance in rows is such that all
  // have the same alignment.
  static constexpr int kStride = Config::kThreads * kAccessD / Config::kTileRows;
  static_assert(kStride % kWriteAlignment == 0, "pieces of a thread begin alike");
  // Lines between a thread's steps.
  static constexpr int kDown = Config::kThreads / Fetch::kRun;
  static constexpr bool kRotates = Config::kRotates, kSharesAddresses = Config::kSharesAddresses;

  TransposeParams const& params;
  int const thread;
  // The tile's first element of A, and of D.
  char const* a;
  char* d;
  int row, column;
  Line lines[Fetch::kColumns];

  __device__ __forceinline__ explicit Gather(TransposeParams const& params) : params(params), thread(threadIdx.x) {
    auto const [matrix, block] = index::block_of_matrix(params.tiles_down * params.tiles_across);
    auto const tile = threadblock::tile_of<Config::Order>(block, params.tiles_down, params.tiles_across);
    row = tile.column * Config::kTileRows;
    column = tile.row * Config::kTileColumns;
    a = reinterpret_cast<char const*>(params.a) + (matrix * params.stride_a + row * params.lda + column) * kBytes;
    d = reinterpret_cast<char*>(params.d) + (matrix * params.stride_d + column * params.ldd + row) * kBytes;
  }

  // Returns the elements between the aligned access that contains an address and the address.
  template <int Access>
  static __device__ __forceinline__ int beyond(char const* address) {
    return int(unsigned(reinterpret_cast<unsigned long long>(address)) % (Access * kBytes)) / kBytes;
  }
  __device__ __forceinline__ char const* line(int number) const { return a + (number - kBefore) * params.lda * kBytes; }

  // Returns a line's first access. It begins before the tile unless the row begins aligned.
  __device__ __forceinline__ char const* aligned(int number) const {
    char const* const first = line(number);
    return first - beyond<kAccessA>(first) * kBytes;
  }
  static __device__ __forceinline__ char* place(int thread, int step) {
    return shared_memory + Smem::at(Fetch::line(thread, step), Fetch::piece(thread, step) * kAccessA) * kBytes;
  }
  static __device__ __forceinline__ void put(char* place, Line const& value) {
    using Type = typename Piece<kAccessA * kBytes>::Type;
    if constexpr (kRotates) {
      // Groups of lines begin half an access further on.
      *reinterpret_cast<uint2*>(place) = uint2{value.word[0], value.word[1]};
      *reinterpret_cast<uint2*>(place + 8) = uint2{value.word[2], value.word[3]};
    } else if constexpr (kAccessA * kBytes == 16) *reinterpret_cast<Type*>(place) = Type{value.word[0], value.word[1], value.word[2], value.word[3]};
    else if constexpr (kAccessA * kBytes == 8) *reinterpret_cast<Type*>(place) = Type{value.word[0], value.word[1]};
    else *reinterpret_cast<Type*>(place) = Type(value.word[0]);
  }

  // Returns whether everything that the block reads exists. Blocks at A's edges, which are few,
  // check each access.
  __device__ __forceinline__ bool inside() const {
    return row >= kBefore && row + Config::kTileRows <= params.rows && column >= kAccessA - 1 &&
           column + Config::kTileColumns + kAccessA <= params.columns;
  }

  // Returns Fetch::has, with a compile-time result for all steps but the last.
  __device__ __forceinline__ bool has(int step) const { return (kSharesAddresses && step + 1 < Fetch::kColumns) || Fetch::has(thread, step); }

  __device__ __forceinline__ void fetch() {
    if (!inside()) return;
    char const* const first = aligned(Fetch::line(thread, 0)) + Fetch::piece(thread, 0) * kAccessA * kBytes;
#pragma unroll
    for (int step = 0; step < Fetch::kColumns; ++step)
      if (has(step))
        lines[step] = thread::read<kAccessA * kBytes, Config::kReadOnce>(
            kSharesAddresses ? first + step * (kDown * params.lda) : aligned(Fetch::line(thread, step)) + Fetch::piece(thread, step) * kAccessA * kBytes);
  }

  __device__ __forceinline__ void store() {
    if (!inside()) return store_edge();
#pragma unroll
    for (int step = 0; step < Fetch::kColumns; ++step)
      if (has(step)) put(kSharesAddresses ? place(thread, 0) + step * Smem::at(kDown, 0) : place(thread, step), lines[step]);
  }

  // Stores whole accesses that exist, and the existing elements of the others one by one.
  __device__ __forceinline__ void store_edge() {
#pragma unroll 1
    for (int step = 0; step < Fetch::kColumns; ++step) {
      int const number = Fetch::line(thread, step), down = row + number - kBefore;
      if (!Fetch::has(thread, step) || down < 0 || down >= params.rows) continue;
      char const* const address = aligned(number) + Fetch::piece(thread, step) * kAccessA * kBytes;
      int const across = column + int(address - line(number)) / kBytes;
      if (across >= 0 && across + kAccessA <= params.columns) {
        put(place(thread, step), thread::read<kAccessA * kBytes, Config::kReadOnce>(address));
      } else {
#pragma unroll 1
        for (int i = max(0, -across); i < min(kAccessA, params.columns - across); ++i)
          *reinterpret_cast<Element*>(place(thread, step) + i * kBytes) = *reinterpret_cast<Element const*>(address + i * kBytes);
      }
    }
  }

  __device__ __forceinline__ void write() {
    int const first_column = Write::line(thread, 0);
    char* address = d + first_column * params.ldd * kBytes;
    int const shift = beyond<kWriteAlignment>(address);
    int const from = Write::piece(thread, 0) * kAccessD - shift;
    address += from * kBytes;
    bool const whole = row + from >= 0 && row + from + kAccessD <= params.rows;
    if constexpr (kRotates) return write_rotated(first_column, from, address, whole);
    // Addresses in shared memory of the thread's elements of its first piece.
    char const* places[kAccessD];
#pragma unroll
    for (int i = 0; i < kAccessD; ++i) {
      int const number = from + i + kBefore;
      places[i] = shared_memory + (Smem::at(number, first_column) + beyond<kAccessA>(line(number))) * kBytes;
    }
    if (whole) {
#pragma unroll
      for (int step = 0; step < Write::kColumns; ++step) {
        Stored value;
#pragma unroll
        for (int w = 0; w < Stored::kCount; ++w) value.word[w] = 0;
#pragma unroll
        for (int i = 0; i < kAccessD; ++i) {
          Element const element = *reinterpret_cast<Element const*>(places[i] + step * kStride * kBytes);
          if constexpr (kBytes == 8) value.word[2 * i] = element.x, value.word[2 * i + 1] = element.y;
          else value.word[i * kBytes / 4] |= unsigned(element) << (i * kBytes % 4 * 8);
        }
        if (column + first_column + step * kStride < params.columns)
          thread::write<kAccessD * kBytes, Config::kWriteStream>(address + step * kStride * params.ldd * kBytes, value);
      }
    } else {
#pragma unroll 1
      for (int step = 0; step < Write::kColumns; ++step) {
        if (column + first_column + step * kStride >= params.columns) break;
#pragma unroll
        for (int i = 0; i < kAccessD; ++i)
          if (unsigned(row + from + i) < unsigned(params.rows))
            *reinterpret_cast<Element*>(address + (step * kStride * params.ldd + i) * kBytes) =
                *reinterpret_cast<Element const*>(places[i] + step * kStride * kBytes);
      }
    }
  }

  // Writes bytes. places[i] addresses the element whose line number is i modulo 16; a rotation by
  // `first` restores the order of the lines.
  __device__ __forceinline__ void write_rotated(int first_column, int from, char* address, bool whole) {
    unsigned const begin = from + kBefore, first = begin % 16, ahead = unsigned(reinterpret_cast<unsigned long long>(a)) - kBefore * unsigned(params.lda);
    char const* places[16];
#pragma unroll
    for (unsigned i = 0; i < 16; ++i)
      places[i] = shared_memory + Smem::at(begin - first, first_column) + Smem::at(i, 0) + (i < first ? Smem::at(16, 0) : 0) + (ahead + i * unsigned(params.lda)) % 16;
    if (whole && column + Config::kTileColumns <= params.columns) {
#pragma unroll
      for (int step = 0; step < Write::kColumns; ++step, address += kStride * params.ldd) {
        unsigned word[4] = {}, far[4], near[4];
        Stored value;
#pragma unroll
        for (int i = 0; i < 16; ++i) word[i / 4] |= unsigned(*reinterpret_cast<Element const*>(places[i] + step * kStride)) << i % 4 * 8;
#pragma unroll
        for (int i = 0; i < 4; ++i) far[i] = first & 8 ? word[(i + 2) % 4] : word[i];
#pragma unroll
        for (int i = 0; i < 4; ++i) near[i] = first & 4 ? far[(i + 1) % 4] : far[i];
#pragma unroll
        for (int i = 0; i < 4; ++i) value.word[i] = __funnelshift_r(near[i], near[(i + 1) % 4], first % 4 * 8);
        thread::write<16, Config::kWriteStream>(address, value);
      }
    } else {
#pragma unroll 1
      for (int step = 0; step < Write::kColumns && column + first_column + step * kStride < params.columns; ++step)
#pragma unroll
        for (unsigned i = 0; i < 16; ++i)
          if (unsigned const k = (i - first) % 16; unsigned(row + from) + k < unsigned(params.rows))
            address[step * kStride * params.ldd + k] = places[i][step * kStride];
    }
  }
};

// Steps of a block in its schedule.
template <class Config>
struct Block : index::Either<Config::kGathered, Gather<Config>, RegisterTile<Config>>::Type {
  using Tile = typename index::Either<Config::kGathered, Gather<Config>, RegisterTile<Config>>::Type;
  using Tile::Tile;

  template <StepKind Kind, int, int>
  __device__ __forceinline__ void step() {
    static_assert(Kind == StepKind::Fetch || Kind == StepKind::Store || Kind == StepKind::Write, "a transpose has no such step");
    if constexpr (Kind == StepKind::Fetch) this->fetch();
    if constexpr (Kind == StepKind::Store) this->store();
    if constexpr (Kind == StepKind::Write) this->write();
  }
};

template <class Config>
__device__ __forceinline__ void transpose(TransposeParams const& params) {
  Block<Config> block(params);
  schedule::perform<typename Config::Schedule::Body>(block);
}

}  // namespace pass
