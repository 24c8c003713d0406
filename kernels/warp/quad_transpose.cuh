// Twin of src/warp/quad_transpose.rs: exchange of elements between the four lanes that share a row
// of a warpgroup's accumulators, after which each lane holds neighbors.
#pragma once

namespace warp {

// Exchange of `Octets` octets of columns in a row. Before it, a lane of the quad has two columns of
// each octet. After it, the lane has 2 * Octets neighbors in one octet.
template <int Octets>
struct QuadTranspose {
  static_assert(Octets == 1 || Octets == 2 || Octets == 4, "a quad has four lanes");
  // Neighbors of a lane after the exchange.
  static constexpr int kRun = 2 * Octets;
  static constexpr int kRows = 4, kColumns = kRun;

  // Map from (lane of the quad, element after the exchange) to the column. It follows the steps of
  // `exchange` backward.
  static __device__ __forceinline__ constexpr int at(int lane, int element) {
    int pair = element / 2;
    for (int bit = Octets / 2; bit > 0; bit /= 2) {
      if (((lane ^ pair) & bit) == 0) continue;
      lane ^= bit;
      pair ^= bit;
    }
    return pair * 8 + lane * 2 + element % 2;
  }

  // Returns the first column of a lane after the exchange.
  static __device__ __forceinline__ constexpr int first(int lane) { return lane % Octets * 8 + lane / Octets * kRun; }

  static __device__ constexpr bool is_contiguous() {
    for (int lane = 0; lane < kRows; ++lane)
      for (int element = 0; element < kRun; ++element)
        if (at(lane, element) != first(lane) + element) return false;
    return true;
  }

  // Exchanges a lane's pairs of neighbors, each of which is in `Words` words. `lane` is the lane in
  // the quad. In each step, a lane sends the half of its pairs that the other lane needs. All lanes
  // of the warp take part.
  template <int Words>
  static __device__ __forceinline__ void exchange(unsigned (&pairs)[Octets][Words], unsigned lane) {
    static_assert(is_contiguous(), "a lane holds neighbors");
#pragma unroll
    for (int bit = 1; bit < Octets; bit *= 2) {
      bool const upper = (lane & bit) != 0;
#pragma unroll
      for (int pair = 0; pair < Octets; ++pair) {
        if ((pair & bit) != 0) continue;
#pragma unroll
        for (int word = 0; word < Words; ++word) {
          unsigned const low = pairs[pair][word], high = pairs[pair + bit][word];
          unsigned const received = __shfl_xor_sync(0xffffffffu, upper ? low : high, bit);
          pairs[pair][word] = upper ? received : low;
          pairs[pair + bit][word] = upper ? high : received;
        }
      }
    }
  }
};

}  // namespace warp
