// The one kernel of transposes: D = Aᵀ, or D = alpha Aᵀ + beta B, one tile a block. Twin of src/device/transpose/mod.rs.
#pragma once
#include "config.cuh"
#include "index.cuh"
#include "schedule.cuh"
#include "thread/access.cuh"
#include "thread/turn.cuh"
#include "threadblock/smem_layout.cuh"
#include "threadblock/swizzle.cuh"

namespace device {

// The map (thread, step) to the number of a piece: line * kPieces + piece of the line.
template <int Threads, int Lines, int Pieces, bool Across>
struct PieceMap {
  static constexpr int kRows = Threads;
  static constexpr int kColumns = Lines * Pieces / Threads;

  // Pieces that neighbouring threads take before the next line, or column of pieces, begins: a part of the block, or a whole
  // number of blocks. What a thread knows once stands apart from what is known while compiling.
  static constexpr int kRun = Across ? Lines : Pieces;
  static constexpr int kBlocks = kRun > Threads ? kRun / Threads : 1;
  static __device__ __forceinline__ constexpr int slow(int thread, int step) {
    return Threads >= kRun ? thread / kRun + step * (Threads / kRun) : step / kBlocks;
  }
  static __device__ __forceinline__ constexpr int fast(int thread, int step) {
    return Threads >= kRun ? thread % kRun : thread + step % kBlocks * Threads;
  }
  static __device__ __forceinline__ constexpr int line(int thread, int step) { return Across ? fast(thread, step) : slow(thread, step); }
  static __device__ __forceinline__ constexpr int piece(int thread, int step) { return Across ? slow(thread, step) : fast(thread, step); }
  static __device__ constexpr unsigned at(int thread, int step) { return line(thread, step) * Pieces + piece(thread, step); }
};

}  // namespace device

// The maps that have a Rust twin, by the names of src/device/host/transpose/program.rs.
namespace maps {
using fetch = device::PieceMap<Config::kThreads, Config::kTileRows / Config::kTurn, Config::kTileColumns / Config::kAccessA, false>;
using write = device::PieceMap<Config::kThreads, Config::kTileColumns, Config::kTileRows / Config::kAccessD, Config::kAcross>;
using smem = threadblock::SmemTile<Config::Tile>;
}  // namespace maps

extern __shared__ __align__(16) char shared_memory[];

namespace device {

// 1 to 16 bytes, as shared memory is accessed.
template <int Bytes> struct Piece;
template <> struct Piece<1> { using Type = unsigned char; };
template <> struct Piece<2> { using Type = unsigned short; };
template <> struct Piece<4> { using Type = unsigned; };
template <> struct Piece<8> { using Type = uint2; };
template <> struct Piece<16> { using Type = uint4; };

template <class Config>
struct Transpose {
  static constexpr int kBytes = Config::kElementBytes;
  static constexpr int kTurn = Config::kTurn, kAccessA = Config::kAccessA, kAccessD = Config::kAccessD;
  using Fetch = maps::fetch;
  using Write = maps::write;
  using Smem = maps::smem;
  using Row = thread::Words<kAccessA * kBytes>;
  using Column = thread::Words<kTurn * kBytes>;
  using Stored = thread::Words<kAccessD * kBytes>;
  // Where there is no shared memory, a thread stores what it has turned.
  static constexpr int kStores = Config::kStaged ? Write::kColumns : Fetch::kColumns * kAccessA;

  TransposeParams const& params;
  int const thread;
  // The matrix and the tile of the block.
  char const *a, *b;
  char* d;
  int row, column;
  Row rows[Fetch::kColumns][kTurn];
  Stored source[Config::kLinear ? kStores : 1];

  __device__ __forceinline__ Transpose(TransposeParams const& params) : params(params), thread(threadIdx.x) {
    unsigned const tiles = params.tiles_down * params.tiles_across;
    unsigned const matrix = blockIdx.x / tiles;
    auto const tile = threadblock::tile_of<Config::kAbreast>(blockIdx.x - matrix * tiles, params.tiles_down, params.tiles_across);
    a = reinterpret_cast<char const*>(params.a) + matrix * params.stride_a * kBytes;
    b = reinterpret_cast<char const*>(params.b) + matrix * params.stride_b * kBytes;
    d = reinterpret_cast<char*>(params.d) + matrix * params.stride_d * kBytes;
    row = tile.column * Config::kTileRows;
    column = tile.row * Config::kTileColumns;
  }

  // Where store `number` of the thread goes: row `at(0)` of D and column `at(1)`, as they lie in the tile.
  static __device__ __forceinline__ int tile_column(int thread, int number) {
    if constexpr (Config::kStaged) return Write::line(thread, number);
    return Fetch::piece(thread, number / kAccessA) * kAccessA + number % kAccessA;
  }
  static __device__ __forceinline__ int tile_row(int thread, int number) {
    if constexpr (Config::kStaged) return Write::piece(thread, number) * kAccessD;
    return Fetch::line(thread, number / kAccessA) * kTurn;
  }

  // Unless accesses are peeled, an extent is a multiple of them: there is no partial access.
  __device__ __forceinline__ bool exists(int down, int across) const { return down < params.rows && across < params.columns; }

  __device__ __forceinline__ void fetch() {
    if (!Config::kLinear || params.reads_a) {
#pragma unroll
      for (int step = 0; step < Fetch::kColumns; ++step) {
        int const across = column + Fetch::piece(thread, step) * kAccessA;
        int const down = row + Fetch::line(thread, step) * kTurn;
        char const* const first = a + (down * params.lda + across) * kBytes;
#pragma unroll
        for (int i = 0; i < kTurn; ++i) {
          char const* const address = first + i * params.lda * kBytes;
          if (!exists(down + i, across)) continue;
          if constexpr (Config::kPeelA)
            rows[step][i] = thread::read_peeled<kBytes, kAccessA>(address, across, params.columns);
          else
            rows[step][i] = thread::read<kAccessA * kBytes, Config::kReadOnce>(address);
        }
      }
    }
    if constexpr (Config::kLinear) {
      if (params.reads_b) {
#pragma unroll
        for (int number = 0; number < kStores; ++number) {
          int const down = row + tile_row(thread, number), across = column + tile_column(thread, number);
          // B may be D: what this thread is about to write.
          if (exists(down, across)) source[number] = thread::read<kAccessD * kBytes, false>(b + (across * params.ldb + down) * kBytes);
        }
      }
    }
  }

  __device__ __forceinline__ void store() {
#pragma unroll
    for (int step = 0; step < Fetch::kColumns; ++step) {
#pragma unroll
      for (int i = 0; i < kAccessA; ++i) {
        Column const turned = thread::turned<kBytes, kTurn, kAccessA>(rows[step], i);
        int const offset = Smem::at(Fetch::line(thread, step) * kTurn, Fetch::piece(thread, step) * kAccessA + i);
        using Type = typename Piece<kTurn * kBytes>::Type;
        Type& place = *reinterpret_cast<Type*>(shared_memory + offset * kBytes);
        if constexpr (kTurn * kBytes == 16) place = Type{turned.word[0], turned.word[1], turned.word[2], turned.word[3]};
        else if constexpr (kTurn * kBytes == 8) place = Type{turned.word[0], turned.word[1]};
        else place = Type(turned.word[0]);
      }
    }
  }

  __device__ __forceinline__ Stored taken(int number) const {
    if constexpr (!Config::kStaged) return thread::turned<kBytes, kTurn, kAccessA>(rows[number / kAccessA], number % kAccessA);
    using Type = typename Piece<kAccessD * kBytes>::Type;
    int const offset = Smem::at(tile_row(thread, number), tile_column(thread, number));
    Type const piece = *reinterpret_cast<Type const*>(shared_memory + offset * kBytes);
    Stored taken;
    if constexpr (kAccessD * kBytes == 16) taken.word[2] = piece.z, taken.word[3] = piece.w;
    if constexpr (kAccessD * kBytes >= 8) taken.word[0] = piece.x, taken.word[1] = piece.y;
    else taken.word[0] = piece;
    return taken;
  }

  // The neighbours of a row of D that are one aligned access: those from element `from` of the tile on. What they lack
  // at one end of the row stands at the other, so the pieces of a row are as many and as large as ever.
  __device__ __forceinline__ void write_peeled(int number) {
    using Element = thread::Words<kBytes>;
    using Type = typename Piece<kBytes>::Type;
    int const across = tile_column(thread, number);
    if (column + across >= params.columns) return;
    char* const first = d + ((column + across) * params.ldd + row) * kBytes;
    int const shift = int(reinterpret_cast<unsigned long long>(first) / kBytes % kAccessD);
    int const from = tile_row(thread, number) - shift;
    Type const* const tile = reinterpret_cast<Type const*>(shared_memory);
    if (from >= 0 && row + from + kAccessD <= params.rows) {
      Stored value;
#pragma unroll
      for (int w = 0; w < Stored::kCount; ++w) value.word[w] = 0;
#pragma unroll
      for (int i = 0; i < kAccessD; ++i) {
        Type const element = tile[Smem::at(from + i, across)];
        if constexpr (kBytes == 8) value.word[2 * i] = element.x, value.word[2 * i + 1] = element.y;
        else value.word[i * kBytes / 4] |= unsigned(element) << (i * kBytes % 4 * 8);
      }
      thread::write<kAccessD * kBytes, Config::kWriteStream>(first + from * kBytes, value);
    } else {
#pragma unroll
      for (int i = 0; i < kAccessD; ++i) {
        int const down = from + i < 0 ? from + i + Config::kTileRows : from + i;
        if (row + down >= params.rows) continue;
        Type const element = tile[Smem::at(down, across)];
        Element value;
        if constexpr (kBytes == 8) value.word[0] = element.x, value.word[1] = element.y;
        else value.word[0] = element;
        thread::write<kBytes, Config::kWriteStream>(first + down * kBytes, value);
      }
    }
  }

  __device__ __forceinline__ void write() {
#pragma unroll
    for (int number = 0; number < kStores; ++number) {
      if constexpr (Config::kPeelD) {
        write_peeled(number);
        continue;
      }
      int const down = row + tile_row(thread, number), across = column + tile_column(thread, number);
      Stored value = taken(number);
      if constexpr (Config::kLinear) value = Config::Combine::apply(value, source[number], params);
      if (exists(down, across)) thread::write<kAccessD * kBytes, Config::kWriteStream>(d + (across * params.ldd + down) * kBytes, value);
    }
  }

  template <StepKind Kind, int, int>
  __device__ __forceinline__ void step() {
    static_assert(Kind == StepKind::Fetch || Kind == StepKind::Store || Kind == StepKind::Write, "a transpose has no such step");
    if constexpr (Kind == StepKind::Fetch) fetch();
    if constexpr (Kind == StepKind::Store) store();
    if constexpr (Kind == StepKind::Write) write();
  }

  static __device__ __forceinline__ void run(TransposeParams const& params) {
    Transpose block(params);
    schedule::perform<typename Config::Schedule::Body>(block);
  }
};

}  // namespace device
