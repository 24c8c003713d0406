// Twin of src/threadblock/pipelined.rs: two stages, through registers.
#pragma once
#include "threadblock/mma.cuh"

namespace threadblock {

// Copies that stage a tile in registers before they store it to shared memory.
template <class Config, class WarpMma, class Derived>
struct ThroughRegisters : Mma<Config, WarpMma, Derived> {
  using Base = Mma<Config, WarpMma, Derived>;
  using Base::Base;

  template <class Operand>
  struct Staging {
    using Access = Packed<Operand::kAccess * int(sizeof(typename Operand::Element))>;
    Access access[ThreadMap<Operand>::kAccesses];
  };
  Staging<typename Config::A> staging_a;
  Staging<typename Config::B> staging_b;

  template <StepKind Kind, int First, int Second>
  __device__ __forceinline__ void step() {
    if constexpr (Kind == StepKind::Fetch) {
      if (this->writes()) {
        fetch(this->a, staging_a);
        fetch(this->b, staging_b);
      }
    } else if constexpr (Kind == StepKind::Store) {
      if (this->writes()) {
        store(this->to_a, this->a, staging_a);
        store(this->to_b, this->b, staging_b);
      }
      this->wrote();
    } else {
      Base::template step<Kind, First, Second>();
    }
  }

 private:
  template <class Operand>
  __device__ __forceinline__ void fetch(TileIterator<Operand> const& from, Staging<Operand>& staging) {
    using Access = typename Staging<Operand>::Access;
#pragma unroll
    for (int i = 0; i < ThreadMap<Operand>::kAccesses; ++i) {
      staging.access[i] = Access{};
      if (from.active(i) && from.exists(i)) staging.access[i] = *reinterpret_cast<Access const*>(from.address(i));
    }
  }

  // Stores vectors that are contiguous in shared memory in one access, and others element by
  // element.
  template <class Operand>
  __device__ __forceinline__ void store(char* to, TileIterator<Operand> const& from, Staging<Operand> const& staging) {
    constexpr int width = Operand::kSharedAccess, bytes = sizeof(typename Operand::Element);
#pragma unroll
    for (int i = 0; i < ThreadMap<Operand>::kAccesses; ++i) {
      if (!from.active(i)) continue;
#pragma unroll
      for (int j = 0; j < Operand::kAccess; j += width)
        *reinterpret_cast<Packed<width * bytes>*>(Base::place(to, from, i, j)) = piece_of<width * bytes>(staging.access[i], j * bytes);
    }
  }
};

template <class Config, class WarpMma>
struct MmaPipelined : ThroughRegisters<Config, WarpMma, MmaPipelined<Config, WarpMma>> {
  using ThroughRegisters<Config, WarpMma, MmaPipelined<Config, WarpMma>>::ThroughRegisters;
};

}  // namespace threadblock
