// Twin of src/threadblock/pipeline.rs: where stages and barriers of a ring lie, and in which stage and phase a tile is.
#pragma once
#include "index.cuh"

namespace threadblock {

// What a shared memory holds that begins at a multiple of 1024 bytes. Facts are those that the Rust struct spells.
template <class Facts>
struct Pipeline : Facts {
  static constexpr unsigned kBarrierBytes = 8;
  // What a full barrier waits for: the whole stage, whoever copies it.
  static constexpr unsigned kStageBytes = Facts::kBytesA + Facts::kBytesB;
  static constexpr unsigned kBuffers = Facts::kConsumers * Facts::kStagingBuffers;
  static constexpr unsigned kStaging = Facts::kStages * kStageBytes;
  static constexpr unsigned kFull = kStaging + kBuffers * Facts::kStagingBytes;
  static constexpr unsigned kEmpty = kFull + Facts::kStages * kBarrierBytes;
  static constexpr unsigned kTurn = kEmpty + Facts::kStages * kBarrierBytes;
  static constexpr unsigned kSource = kTurn + Facts::kTurns * kBarrierBytes;
  static constexpr unsigned kSharedBytes = kSource + Facts::kSources * kBarrierBytes;
  // Of C, what lands for a consumer at once.
  static constexpr unsigned kSourceBytes = Facts::kStagingBuffers * Facts::kStagingBytes;

  // Bytes from the beginning.
  static constexpr __device__ unsigned a(unsigned stage) { return stage * kStageBytes; }
  static constexpr __device__ unsigned b(unsigned stage) { return stage * kStageBytes + Facts::kBytesA; }
  static constexpr __device__ unsigned staging(unsigned consumer, unsigned buffer) {
    return kStaging + (consumer * Facts::kStagingBuffers + buffer) * Facts::kStagingBytes;
  }
  static constexpr __device__ unsigned full(unsigned stage) { return kFull + stage * kBarrierBytes; }
  static constexpr __device__ unsigned empty(unsigned stage) { return kEmpty + stage * kBarrierBytes; }
  static constexpr __device__ unsigned turn(unsigned consumer) { return kTurn + consumer * kBarrierBytes; }
  static constexpr __device__ unsigned source(unsigned consumer) { return kSource + consumer * kBarrierBytes; }

  // Where a tile is: one after the other, without a division.
  struct Position {
    unsigned stage = 0;
    unsigned phase = 0;

    constexpr __device__ void advance() {
      if (++stage == Facts::kStages) {
        stage = 0;
        phase ^= 1;
      }
    }

    // As many further on.
    constexpr __device__ void skip(unsigned tiles) {
      unsigned const at = stage + tiles;
      phase ^= at / Facts::kStages % 2;
      stage = at % Facts::kStages;
    }

    // The stage of the tile that many before, at most as many as there are stages.
    constexpr __device__ unsigned stage_before(unsigned behind) const {
      return stage >= behind ? stage - behind : stage + Facts::kStages - behind;
    }
  };
};

// (region, number) to the byte at which it begins.
template <class Ring>
struct PipelineLayout {
  static constexpr int kRows = 7;
  static constexpr int kColumns = Ring::kStages > Ring::kBuffers ? Ring::kStages : Ring::kBuffers;

  static constexpr __device__ unsigned at(int row, int column) {
    unsigned const i = column;
    if (i >= (row == 2 ? Ring::kBuffers : row == 5 ? Ring::kTurns : row == 6 ? Ring::kSources : Ring::kStages)) return index::kLeftOut;
    switch (row) {
      case 0: return Ring::a(i);
      case 1: return Ring::b(i);
      case 2:
        if constexpr (Ring::kStagingBuffers > 0) return Ring::staging(i / Ring::kStagingBuffers, i % Ring::kStagingBuffers);
        return index::kLeftOut;
      case 3: return Ring::full(i);
      case 4: return Ring::empty(i);
      case 5: return Ring::turn(i);
      default: return Ring::source(i);
    }
  }
};

// Tile number `column` of two turns around the ring: row 0 its stage, row 1 its phase; rows 2 and 3 the same, at once.
template <class Ring>
struct RingPosition {
  static constexpr int kRows = 4;
  static constexpr int kColumns = 2 * Ring::kStages;

  static constexpr __device__ unsigned at(int row, int column) {
    typename Ring::Position position{};
    if (row >= 2) position.skip(column);
    else
      for (int t = 0; t < column; ++t) position.advance();
    return row % 2 == 0 ? position.stage : position.phase;
  }
};

}  // namespace threadblock
