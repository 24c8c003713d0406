// Twin of src/warp/simt/mod.rs: a warp's outer product on CUDA cores.
#pragma once
#include "layout/index_map.cuh"
#include "numeric.cuh"
#include "numeric/transform.cuh"
#include "thread/mma.cuh"
#include "threadblock/smem.cuh"
#include "warp/exchange.cuh"
#include "warp/thread_maps.cuh"
#include "warp/thread_tiles.cuh"

namespace warp {

// One thread's share: two fragments of each operand, and the accumulators.
template <class Config>
struct MmaSimt {
  using A = typename Config::A;
  using B = typename Config::B;
  using Accumulator = typename Config::Accumulator;
  static constexpr bool kSwizzlesOnce = false;
  // No value need be recomputed, and stores of whole rows spill if a thread has 128 registers.
  static constexpr bool kFull = false, kStoresRows = false;
  // Rows and columns of a thread's accumulators, and whether lanes exchange them before they store
  // D.
  static constexpr int kThreadM = A::kThreadMn, kThreadN = B::kThreadMn;
  static constexpr bool kExchanges = Config::kExchanges;
  static constexpr bool kSaturates = false;
  using MapA = FragmentMap<Config, A, true>;
  using MapB = FragmentMap<Config, B, false>;
  // Lanes that share rows, and columns, of D. A part of a sum is a warp's share of a line.
  struct Lanes {
    static constexpr int kAcross = B::kLanes, kDown = A::kLanes;
    static __device__ __forceinline__ constexpr unsigned part_across(unsigned column) { return column / (B::kLanes * B::kThreadMn); }
    static __device__ __forceinline__ constexpr unsigned part_down(unsigned row) { return row / (A::kLanes * A::kThreadMn); }
    static __device__ __forceinline__ constexpr unsigned across(int place) { return LaneArrangement<Config>::lane(0, place); }
    static __device__ __forceinline__ constexpr unsigned down(int place) { return LaneArrangement<Config>::lane(place, 0); }
  };
  // f16 has two numbers per register: fragment neighbors, and accumulators in the order of
  // thread::exchanged.
  static constexpr int kPacked = Config::kPacked;
  using Register = typename index::Either<kPacked == 2, f16x2, Accumulator>::Type;
  static constexpr int kAccumulators = A::kThreadMn * B::kThreadMn / kPacked;

  Register a[2][A::kThreadMn / kPacked];
  Register b[2][B::kThreadMn / kPacked];
  Register accumulators[kAccumulators];
  int mn_a, mn_b, k;
  // The thread's part of both operands in the stage being read. The pointers advance from stage to
  // stage and are not recomputed.
  char const* from_a;
  char const* from_b;

  __device__ __forceinline__ MmaSimt(char const* shared, int thread)
      : accumulators{}, mn_a(MapA::of_thread(thread)), mn_b(MapB::of_thread(thread)), k(DepthMap<Config>::at(thread, 0)) {
    from_a = shared + A::kStageOffset + smem::SmemTile<A>::base(mn_a, k) * int(sizeof(typename A::Element));
    from_b = shared + B::kStageOffset + smem::SmemTile<B>::base(mn_b, k) * int(sizeof(typename B::Element));
  }

  // Constructs without a stage; each load provides its addresses.
  __device__ __forceinline__ explicit MmaSimt(int thread)
      : accumulators{}, mn_a(MapA::of_thread(thread)), mn_b(MapB::of_thread(thread)), k(DepthMap<Config>::at(thread, 0)), from_a(nullptr), from_b(nullptr) {}

  // Advances to the next stage, `bytes` bytes away.
  __device__ __forceinline__ void advance(int bytes) {
    from_a += bytes;
    from_b += bytes;
  }

  // Loads both fragments of a k-block.
  template <int Group>
  __device__ __forceinline__ void load() {
    load_operand<A, MapA, typename Config::TransformA>(from_a, mn_a, Group, a[Group % 2]);
    load_operand<B, MapB, typename Config::TransformB>(from_b, mn_b, Group, b[Group % 2]);
  }

  // Loads both fragments of a k-block from shared-memory addresses, for f32. The loads are
  // volatile, so that the assembler keeps their order: B's, then A's. Otherwise, it delays the part
  // that is used first until right before its use, and the loads of a k-block are issued in one
  // burst. In order, they are issued one by one between products of the previous k-block.
  template <int Group>
  __device__ __forceinline__ void load_in_order(unsigned from_a, unsigned from_b) {
    load_in_order<B, MapB>(from_b, Group, b[Group % 2]);
    load_in_order<A, MapA>(from_a, Group, a[Group % 2]);
  }

  template <int Group>
  __device__ __forceinline__ void multiply() {
    thread::outer_product<A::kThreadMn, B::kThreadMn>(a[Group % 2], b[Group % 2], accumulators);
    // The compiler turns products of bytes in four k-blocks into one dp4a. Without this barrier, it
    // gathers all k-blocks first, and spills.
    if constexpr (sizeof(typename A::Element) == 1 && Group % 4 == 3) hold();
  }

  // Returns the place of an accumulator, and the accumulator at a place.
  static __device__ __forceinline__ constexpr int place(int i) { return kPacked == 2 ? thread::exchanged<B::kThreadMn>(i) : i; }

  // Returns an accumulator; their order is row by row.
  __device__ __forceinline__ Accumulator accumulator(int i) const {
    int const at = place(i);
    if constexpr (kPacked == 2) return half_of(accumulators[at / 2], at % 2);
    else return accumulators[at];
  }

  // Replaces an accumulator.
  __device__ __forceinline__ void set(int i, Accumulator value) {
    int const at = place(i);
    if constexpr (kPacked == 2) put_half(accumulators[at / 2], at % 2, value);
    else accumulators[at] = value;
  }

  // If D is stored element by element, lanes first exchange those of a row, so that neighbors are
  // stored together.
  static constexpr int kRun = B::kInterleave;
  // First column of a lane after the exchange, and the distance of the others from it.
  __device__ __forceinline__ int striped_b() const { return mn_b - lane_b() * (kRun - 1); }
  static __device__ __forceinline__ constexpr int of_striped(int j) { return j * B::kLanes; }
  __device__ __forceinline__ void to_stripes() {
    int const lane_m = mn_a % (A::kLanes * A::kInterleave) / A::kInterleave, lane_n = lane_b();
    auto const lane_of = [&](int n) { return LaneArrangement<Config>::lane(lane_m, n); };
#pragma unroll
    for (int i = 0; i < kAccumulators; i += kRun) BlockedToStriped<kRun, B::kLanes>::exchange(accumulators + i, lane_n, lane_of);
  }

  // Multiplies the k-blocks of the tile in sequence, through one fragment of each operand; kUnroll
  // of them per iteration.
  __device__ __forceinline__ void multiply_tile() {
#pragma unroll Config::kUnroll
    for (int group = 0; group < Config::kWarpK; ++group) {
      load_operand<A, MapA, typename Config::TransformA>(from_a, mn_a, group, a[0]);
      load_operand<B, MapB, typename Config::TransformB>(from_b, mn_b, group, b[0]);
      thread::outer_product<A::kThreadMn, B::kThreadMn>(a[0], b[0], accumulators);
      if constexpr (sizeof(typename A::Element) == 1) {
        if (group % 4 == 3) hold();
      }
    }
  }

 private:
  // Returns the lane's index among those that share its rows.
  __device__ __forceinline__ int lane_b() const { return mn_b % (B::kLanes * kRun) / kRun; }

  // Pins the accumulators at this point for the compiler.
  __device__ __forceinline__ void hold() {
    if constexpr (sizeof(typename A::Element) == 1) {
#pragma unroll
      for (int i = 0; i < kAccumulators; ++i) asm volatile("" : "+r"(accumulators[i]));
    }
  }

  template <class Operand, class Map>
  static __device__ __forceinline__ void load_in_order(unsigned from, int group, float (&fragment)[Operand::kThreadMn]) {
    using Tile = smem::SmemTile<Operand>;
    constexpr int width = Operand::kFragmentAccess;
    static_assert(kPacked == 1 && width == 4 && Tile::kLinear, "four f32 at a time, at offsets that all threads share");
#pragma unroll
    for (int i = 0; i < Operand::kThreadMn; i += width) {
      unsigned const at = from + Tile::at(Map::of_element(i), group) * sizeof(float);
      asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(fragment[i]), "=f"(fragment[i + 1]), "=f"(fragment[i + 2]), "=f"(fragment[i + 3])
                   : "r"(at)
                   : "memory");
    }
  }

  // Loads a fragment, and applies the operand's transform to it.
  template <class Operand, class Map, class Transform>
  __device__ __forceinline__ void load_operand(char const* from, int mn, int group, Register (&fragment)[Operand::kThreadMn / kPacked]) {
    using Element = typename Operand::Element;
    constexpr int width = Operand::kFragmentAccess;
    using Tile = smem::SmemTile<Operand>;
    // Without sliced K, k is 0 to the compiler.
    int const here_mn = Tile::here(mn), here_k = Config::kWarpsK > 1 ? Tile::here(k) : k;
    if constexpr (kPacked == 2 && width == 1) {
#pragma unroll
      for (int i = 0; i < Operand::kThreadMn; i += 2) {
        auto const half = [&](int j) { return reinterpret_cast<f16 const*>(from)[Tile::rest(here_mn, here_k, Map::of_element(i + j), group)]; };
        fragment[i / 2] = pair_of(half(0), half(1));
      }
    } else {
#pragma unroll
      for (int i = 0; i < Operand::kThreadMn; i += width) {
        int const at = Tile::rest(here_mn, here_k, Map::of_element(i), group);
        if constexpr (kPacked == 2) {
          auto const vector = *reinterpret_cast<Vector<f16x2, width / 2> const*>(reinterpret_cast<Element const*>(from) + at);
#pragma unroll
          for (int j = 0; j < width / 2; ++j) fragment[i / 2 + j] = vector.element[j];
        } else {
          auto const vector = *reinterpret_cast<Vector<Element, width> const*>(reinterpret_cast<Element const*>(from) + at);
#pragma unroll
          for (int j = 0; j < width; ++j) fragment[i + j] = Transform::of(convert<Accumulator>(vector.element[j]));
        }
      }
    }
  }
};

}  // namespace warp
