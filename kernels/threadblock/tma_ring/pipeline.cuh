// Twin of src/threadblock/tma_ring/pipeline.rs: addresses of a ring's stages and barriers, and the
// stage and phase of each tile.
#pragma once
#include "layout/index_map.cuh"

namespace threadblock {

// Layout of the shared memory, which begins at a multiple of 1024 bytes. The Rust struct generates
// Facts.
template <class Facts>
struct Pipeline : Facts {
  static constexpr unsigned kBarrierBytes = 8;
  static constexpr unsigned kStageBytes = Facts::kBytesA + Facts::kBytesB;
  // Whether the producer's threads gather lines of an operand, and whether TMA copies an operand.
  static constexpr bool kGathers = Facts::kGatheredA || Facts::kGatheredB;
  // Bytes that a full barrier waits for: those that TMA copies to the stage, whichever block issues
  // the copies.
  static constexpr unsigned kExpectBytes = (Facts::kGatheredA ? 0 : Facts::kBytesA) + (Facts::kGatheredB ? 0 : Facts::kBytesB);
  static constexpr unsigned kBuffers = Facts::kConsumers * Facts::kStagingBuffers;
  static constexpr unsigned kStaging = Facts::kStages * kStageBytes;
  static constexpr unsigned kSlots = kStaging + kBuffers * Facts::kStagingBytes;
  static constexpr unsigned kVectors = kSlots + Facts::kConsumers * Facts::kSenders * Facts::kSlotBytes;
  static constexpr unsigned kFull = kVectors + Facts::kConsumers * Facts::kVectorBytes;
  static constexpr unsigned kEmpty = kFull + Facts::kStages * kBarrierBytes;
  static constexpr unsigned kTurn = kEmpty + Facts::kStages * kBarrierBytes;
  static constexpr unsigned kSource = kTurn + Facts::kTurns * kBarrierBytes;
  // Consumers that send or gather split-K slices.
  static constexpr unsigned kGathering = Facts::kSenders > 0 ? Facts::kConsumers : 0;
  static constexpr unsigned kLanded = kSource + Facts::kSources * kBarrierBytes;
  static constexpr unsigned kRead = kLanded + kGathering * kBarrierBytes;
  static constexpr unsigned kSharedBytes = kRead + kGathering * kBarrierBytes;
  // Bytes of partial accumulators that a consumer receives at once.
  static constexpr unsigned kLandingBytes = Facts::kSenders * Facts::kSlotBytes;
  // Each warp of the receiving consumer arrives when it has read them.
  static constexpr unsigned kReadArrivals = Facts::kWarpgroup / 32;
  // Bytes of C that a consumer receives at once.
  static constexpr unsigned kSourceBytes = Facts::kStagingBuffers * Facts::kStagingBytes;

  // Offsets in bytes.
  static constexpr __device__ unsigned a(unsigned stage) { return stage * kStageBytes; }
  static constexpr __device__ unsigned b(unsigned stage) { return stage * kStageBytes + Facts::kBytesA; }
  static constexpr __device__ unsigned staging(unsigned consumer, unsigned buffer) {
    return kStaging + (consumer * Facts::kStagingBuffers + buffer) * Facts::kStagingBytes;
  }
  static constexpr __device__ unsigned full(unsigned stage) { return kFull + stage * kBarrierBytes; }
  static constexpr __device__ unsigned empty(unsigned stage) { return kEmpty + stage * kBarrierBytes; }
  static constexpr __device__ unsigned turn(unsigned consumer) { return kTurn + consumer * kBarrierBytes; }
  static constexpr __device__ unsigned source(unsigned consumer) { return kSource + consumer * kBarrierBytes; }

  // Offset of the vectors of a consumer's epilogue.
  static constexpr __device__ unsigned vectors(unsigned consumer) { return kVectors + consumer * Facts::kVectorBytes; }

  // Offset of a consumer's slot for the block of rank 1 + sender.
  static constexpr __device__ unsigned slot(unsigned consumer, unsigned sender) {
    return kSlots + (consumer * Facts::kSenders + sender) * Facts::kSlotBytes;
  }
  static constexpr __device__ unsigned landed(unsigned consumer) { return kLanded + consumer * kBarrierBytes; }
  static constexpr __device__ unsigned read(unsigned consumer) { return kRead + consumer * kBarrierBytes; }

  // Stage and phase of a tile; advances without a division.
  struct Position {
    unsigned stage = 0;
    unsigned phase = 0;

    constexpr __device__ void advance() {
      if (++stage == Facts::kStages) {
        stage = 0;
        phase ^= 1;
      }
    }

    // Advances by `tiles` tiles.
    constexpr __device__ void skip(unsigned tiles) {
      unsigned const at = stage + tiles;
      phase ^= at / Facts::kStages % 2;
      stage = at % Facts::kStages;
    }

    // Returns the stage of the tile `behind` tiles earlier; `behind` is at most the number of
    // stages.
    constexpr __device__ unsigned stage_before(unsigned behind) const {
      return stage >= behind ? stage - behind : stage + Facts::kStages - behind;
    }
  };
};

// Map from (region, item) to an offset in bytes.
template <class Ring>
struct PipelineLayout {
  static constexpr int kRows = 11;
  static constexpr unsigned kSlots = Ring::kConsumers * Ring::kSenders;
  static constexpr unsigned kMost = Ring::kStages > Ring::kBuffers ? Ring::kStages : Ring::kBuffers;
  static constexpr int kColumns = kMost > kSlots ? kMost : kSlots;

  static constexpr __device__ unsigned at(int row, int column) {
    unsigned const i = column;
    unsigned const counts[] = {Ring::kStages, Ring::kStages, Ring::kBuffers, Ring::kStages, Ring::kStages, Ring::kTurns, Ring::kSources, kSlots, Ring::kGathering, Ring::kGathering, Ring::kVectorBytes > 0 ? Ring::kConsumers : 0};
    if (i >= counts[row]) return index::kLeftOut;
    switch (row) {
      case 0: return Ring::a(i);
      case 1: return Ring::b(i);
      case 2:
        if constexpr (Ring::kStagingBuffers > 0) return Ring::staging(i / Ring::kStagingBuffers, i % Ring::kStagingBuffers);
        return index::kLeftOut;
      case 3: return Ring::full(i);
      case 4: return Ring::empty(i);
      case 5: return Ring::turn(i);
      case 6: return Ring::source(i);
      case 7:
        if constexpr (Ring::kSenders > 0) return Ring::slot(i / Ring::kSenders, i % Ring::kSenders);
        return index::kLeftOut;
      case 8: return Ring::landed(i);
      case 9: return Ring::read(i);
      default: return Ring::vectors(i);
    }
  }
};

// Stage (row 0) and phase (row 1) of tile number `column` during two rounds of the ring. Rows 2 and
// 3 have the same values, computed in one step.
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
