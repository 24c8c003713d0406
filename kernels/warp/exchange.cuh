// Twin of src/warp/exchange.rs: lanes that share a row of a tile exchange its elements, so that
// those of neighbouring lanes are neighbours.
#pragma once

namespace warp {

// Of a row, Run neighbours lie in each of Lanes lanes (blocked), and then Lanes neighbours in as
// many lanes (striped): Run rounds, in each of which a lane publishes an element and takes another
// lane's.
template <int Run, int Lanes>
struct BlockedToStriped {
  static_assert((Run & (Run - 1)) == 0 && Lanes % Run == 0, "a stripe is a whole number of blocks");
  // Lanes that have a stripe's elements at first.
  static constexpr int kSources = Lanes / Run;
  static constexpr int kRows = Lanes;
  static constexpr int kColumns = Run;

  // The stripe whose element a lane takes in a round, the lane that has it, and which of its block
  // a lane publishes.
  static __device__ __forceinline__ constexpr int stripe(int lane, int round) { return (round + lane) % Run; }
  static __device__ __forceinline__ constexpr int source(int lane, int round) { return stripe(lane, round) * kSources + lane / Run; }
  static __device__ __forceinline__ constexpr int published(int lane, int round) { return (lane / kSources + Run - round) % Run; }

  // The map (lane, round) to the column of the element that it takes.
  static __device__ constexpr int at(int lane, int round) {
    int const from = source(lane, round);
    return from * Run + published(from, round);
  }

  static __device__ constexpr bool is_striped() {
    for (int lane = 0; lane < Lanes; ++lane)
      for (int round = 0; round < Run; ++round)
        if (at(lane, round) != stripe(lane, round) * Lanes + lane) return false;
    return true;
  }

  // A lane's block, and its number among the lanes; `lane_of` is the lane of a number.
  template <class Element, class LaneOf>
  static __device__ __forceinline__ void exchange(Element* block, int number, LaneOf lane_of) {
    static_assert(is_striped(), "a lane takes the elements that are its");
    Element sent[Run], taken[Run];
    // Element `published` of the block, which the lane alone decides, without an index that is not
    // known.
#pragma unroll
    for (int round = 0; round < Run; ++round) sent[round] = block[(Run - round) % Run];
    rotate<1>(sent, number / kSources);
#pragma unroll
    for (int round = 0; round < Run; ++round) taken[round] = __shfl_sync(0xffffffffu, sent[round], lane_of(source(number, round)));
    rotate<1>(taken, number);
#pragma unroll
    for (int i = 0; i < Run; ++i) block[i] = taken[i];
  }

 private:
  // So many places on, the last one first again: by each bit of the number.
  template <int Bit, class Element>
  static __device__ __forceinline__ void rotate(Element (&element)[Run], int places) {
    if constexpr (Bit < Run) {
      Element moved[Run];
#pragma unroll
      for (int i = 0; i < Run; ++i) moved[i] = places & Bit ? element[(i + Run - Bit) % Run] : element[i];
#pragma unroll
      for (int i = 0; i < Run; ++i) element[i] = moved[i];
      rotate<2 * Bit>(element, places);
    }
  }
};

}  // namespace warp
