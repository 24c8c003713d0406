// Twin of src/operand/repack.rs: repacks a matrix so that each row of the copy begins at a multiple
// of 16 bytes.
#pragma once
#include "config.cuh"
#include "layout/index_map.cuh"
#include "thread/access.cuh"

namespace pass {

// Size of a piece, and of an access, in bytes.
constexpr int kPiece = 16;

// Returns 16 bytes of two neighboring accesses from byte `beyond` on. It shifts by two words, by
// one word, and by bits.
constexpr thread::Words<16> realigned(thread::Words<16> const& low, thread::Words<16> const& high, unsigned beyond) {
  unsigned words[8] = {low.word[0], low.word[1], low.word[2], low.word[3], high.word[0], high.word[1], high.word[2], high.word[3]};
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = beyond & 8 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) words[i] = beyond & 4 ? words[i + 1] : words[i];
  thread::Words<16> piece{};
#pragma unroll
  for (int i = 0; i < 4; ++i) piece.word[i] = unsigned(((unsigned long long)(words[i + 1]) << 32 | words[i]) >> (beyond % 4 * 8));
  return piece;
}

// Map from (beyond, byte) to one of the 32 bytes of two accesses.
struct Realignment {
  static constexpr int kRows = kPiece, kColumns = kPiece;
  static constexpr int at(int beyond, int byte) {
    thread::Words<16> const low{{0x03020100u, 0x07060504u, 0x0b0a0908u, 0x0f0e0d0cu}};
    thread::Words<16> const high{{0x13121110u, 0x17161514u, 0x1b1a1918u, 0x1f1e1d1cu}};
    return realigned(low, high, unsigned(beyond)).word[byte / 4] >> (byte % 4 * 8) & 0xff;
  }
};

// Line and piece of a thread's step, in a tile whose rows have 2^log pieces.
template <class Config>
constexpr unsigned line_of(int thread, int step, unsigned log) {
  return unsigned(thread + step * Config::kThreads) >> log;
}
template <class Config>
constexpr unsigned piece_of(int thread, int step, unsigned log) {
  return unsigned(thread + step * Config::kThreads) & ((1u << log) - 1);
}

// Map from (thread, step) to the offset in the copy, in pieces.
template <class Config, int LogPieces, int Pitch>
struct RepackMap {
  static constexpr int kRows = Config::kThreads, kColumns = Config::kSteps;
  static constexpr int at(int thread, int step) {
    return int(line_of<Config>(thread, step, LogPieces)) * Pitch + int(piece_of<Config>(thread, step, LogPieces));
  }
};

// One tile of a matrix of the batch.
template <class Config>
struct Repack {
  using Access = thread::Words<kPiece>;
  using Address = unsigned long long;

  RepackCopyParams const& params;
  // Addresses of the matrix and of its copy.
  Address const source, destination;
  // The tile's first row and first piece.
  unsigned const row, piece;

  __device__ __forceinline__ Repack(RepackCopyParams const& params, index::BlockOfMatrix at)
      : params(params),
        source(params.source + at.matrix * params.stride_source),
        destination(params.destination + at.matrix * params.stride_copy),
        row(at.block / params.tiles_across * (unsigned(Config::kThreads * Config::kSteps) >> params.log_pieces)),
        piece(at.block % params.tiles_across << params.log_pieces) {}

  // One step's copy of a thread.
  struct Copy {
    bool exists;
    // Bytes of the piece that belong to the row, and bytes before the piece in its first access.
    unsigned needed, beyond;
    Address first, place;
  };

  __device__ __forceinline__ Copy copy(int step) const {
    unsigned const down = row + line_of<Config>(threadIdx.x, step, params.log_pieces);
    unsigned const across = piece + piece_of<Config>(threadIdx.x, step, params.log_pieces);
    Address const along = Address(across) * kPiece;
    Address const first = source + down * params.stride + along;
    unsigned const beyond = unsigned(first) % kPiece;
    Address const rest = params.row_bytes - along;
    return {down < params.rows && across < params.pieces, rest < kPiece ? unsigned(rest) : unsigned(kPiece), beyond, first - beyond,
            destination + down * params.pitch + along};
  }

  static __device__ __forceinline__ bool crosses(Copy const& copy) { return copy.beyond + copy.needed > kPiece; }
  __device__ __forceinline__ Address end() const { return source + (params.rows - 1) * params.stride + params.row_bytes; }

  // Returns whether everything that the tile reads lies in the matrix: its first and last bytes are
  // at least an access away from the ends.
  __device__ __forceinline__ bool inside() const {
    unsigned const lines = unsigned(Config::kThreads * Config::kSteps) >> params.log_pieces;
    unsigned const last = (params.rows - row < lines ? params.rows - row : lines) - 1 + row;
    Address const across = (Address(piece) + (1u << params.log_pieces)) * kPiece;
    Address const behind = params.row_bytes < across ? params.row_bytes : across;
    return row * params.stride + Address(piece) * kPiece >= kPiece - 1 &&
           source + last * params.stride + behind + kPiece - 1 <= end();
  }

  static __device__ __forceinline__ Access read(Address address) { return thread::read<kPiece, false>(reinterpret_cast<void const*>(address)); }
  static __device__ __forceinline__ void write(Copy const& copy, Access const& low, Access const& high) {
    thread::write<kPiece, false>(reinterpret_cast<void*>(copy.place), realigned(low, high, copy.beyond));
  }

  __device__ __forceinline__ void run() const {
    if (!inside()) return run_edge();
    Copy copies[Config::kSteps];
    Access low[Config::kSteps], high[Config::kSteps];
#pragma unroll
    for (int step = 0; step < Config::kSteps; ++step) {
      copies[step] = copy(step);
      low[step] = Access{}, high[step] = Access{};
      if (copies[step].exists) low[step] = read(copies[step].first);
      if (copies[step].exists && crosses(copies[step])) high[step] = read(copies[step].first + kPiece);
    }
#pragma unroll
    for (int step = 0; step < Config::kSteps; ++step)
      if (copies[step].exists) write(copies[step], low[step], high[step]);
  }

  // Reads an access, byte by byte if it reaches beyond the matrix.
  __device__ __forceinline__ Access read_edge(Address address) const {
    if (address >= source && address + kPiece <= end()) return read(address);
    Address half[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll 1
      for (int byte = 0; byte < 8; ++byte) {
        Address const at = address + i * 8 + byte;
        if (at >= source && at < end()) half[i] |= Address(*reinterpret_cast<unsigned char const*>(at)) << (byte * 8);
      }
    }
    return {{unsigned(half[0]), unsigned(half[0] >> 32), unsigned(half[1]), unsigned(half[1] >> 32)}};
  }

  __device__ __forceinline__ void run_edge() const {
#pragma unroll 1
    for (int step = 0; step < Config::kSteps; ++step) {
      Copy const one = copy(step);
      if (!one.exists) continue;
      Access const low = read_edge(one.first);
      write(one, low, crosses(one) ? read_edge(one.first + kPiece) : Access{});
    }
  }
};

template <class Config>
__device__ __forceinline__ void repack(RepackParams const& params) {
  unsigned const second = blockIdx.x >= params.blocks;
  RepackCopyParams const& copy = params.copies[second];
  unsigned const block = blockIdx.x - (second ? params.blocks : 0);
  Repack<Config>(copy, {block / copy.tiles, block % copy.tiles}).run();
}

}  // namespace pass
