// Twin of src/warp/exchange.rs: exchange of elements between the lanes that share a row of a tile,
// after which neighboring lanes hold neighboring elements.
#pragma once

namespace warp {

// Exchange of a row from blocked order (Run neighbors in each of Lanes lanes) to striped order
// (Lanes neighbors in as many lanes). In each of Run rounds, a lane publishes one element and
// receives another lane's.
template <int Run, int Lanes>
struct BlockedToStriped {
  static_assert((Run & (Run - 1)) == 0 && Lanes % Run == 0, "a stripe is a whole number of blocks");
  // Lanes that hold a stripe's elements before the exchange.
  static constexpr int kSources = Lanes / Run;
  static constexpr int kRows = Lanes;
  static constexpr int kColumns = Run;

  // Stripe of the element that a lane receives in a round, the lane that holds it, and the element
  // of its block that a lane publishes.
  static __device__ __forceinline__ constexpr int stripe(int lane, int round) { return (round + lane) % Run; }
  static __device__ __forceinline__ constexpr int source(int lane, int round) { return stripe(lane, round) * kSources + lane / Run; }
  static __device__ __forceinline__ constexpr int published(int lane, int round) { return (lane / kSources + Run - round) % Run; }

  // Map from (lane, round) to the column of the element that the lane receives.
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

  // Exchanges a lane's block. `number` is the lane's index in the row, and `lane_of` maps such an
  // index to a lane.
  template <class Element, class LaneOf>
  static __device__ __forceinline__ void exchange(Element* block, int number, LaneOf lane_of) {
    static_assert(is_striped(), "a lane takes the elements that are its");
    Element sent[Run], taken[Run];
    // Select element `published` of the block. Only the lane determines it, and no index is
    // dynamic.
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
  // Rotates the elements by `places` places, one bit of the number at a time.
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
