// Twin of src/threadblock/multistage.rs: any number of stages, filled by asynchronous copies.
#pragma once
#include "threadblock/mma.cuh"

namespace threadblock {

// Copies Bytes bytes from global to shared memory, or writes zeros if `exists` is false. 16-byte
// copies bypass the L1 cache.
template <int Bytes>
__device__ __forceinline__ void copy_async(void* to, void const* from, bool exists) {
  unsigned const address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  int const bytes = exists ? Bytes : 0;
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(Bytes), "r"(bytes));
  }
}

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
      if (from.active(i)) copy_async<bytes>(Base::place(to, from, i, 0), from.address(i), from.exists(i));
    }
  }
};

}  // namespace threadblock
