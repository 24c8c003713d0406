// Twin of src/threadblock/multistage.rs: any number of stages, filled by asynchronous copies.
#pragma once
#include "thread/access.cuh"
#include "threadblock/mma.cuh"

namespace threadblock {

template <class Config, class WarpMma>
struct MmaMultistage : Mma<Config, WarpMma, MmaMultistage<Config, WarpMma>> {
  using Base = Mma<Config, WarpMma, MmaMultistage<Config, WarpMma>>;
  using Base::Base;

  template <StepKind Kind, int First, int Second>
  __device__ __forceinline__ void step() {
    if constexpr (Kind == StepKind::Copy) {
      if (this->writes()) {
        copy<First, Second>(this->to_a, this->a);
        copy<First, Second>(this->to_b, this->b);
      }
    } else {
      Base::template step<Kind, First, Second>();
    }
  }

 private:
  // Issues the accesses of part Part of Of.
  template <int Part, int Of, class Iterator>
  __device__ __forceinline__ void copy(char* to, Iterator const& from) {
    using Operand = typename Iterator::Facts;
    constexpr int bytes = Operand::kAccess * sizeof(typename Operand::Element);
#pragma unroll
    for (int i = Part; i < ThreadMap<Operand>::kAccesses; i += Of) {
      if (!from.active(i)) continue;
      unsigned const place = static_cast<unsigned>(__cvta_generic_to_shared(Base::place(to, from, i, 0)));
      thread::copy_async<bytes>(place, from.address(i), from.exists(i));
    }
  }
};

}  // namespace threadblock
