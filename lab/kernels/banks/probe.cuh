// Twin of lab/src/banks/probe.rs: one access of one warp to shared memory, each lane's address from
// a table.
#pragma once

namespace banks {

// The address of a lane that takes no part.
constexpr unsigned kOff = 0xffffffffu;

// Registers of one access.
struct Words {
  unsigned word[4];
};

// One load of Bytes bytes. It is volatile: nothing takes it apart, moves it or leaves it out.
template <int Bytes>
__device__ __forceinline__ Words load(unsigned address) {
  Words to{};
  if constexpr (Bytes == 1) {
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(to.word[0]) : "r"(address));
  } else if constexpr (Bytes == 2) {
    asm volatile("{ .reg .u16 half; ld.shared.u16 half, [%1]; cvt.u32.u16 %0, half; }" : "=r"(to.word[0]) : "r"(address));
  } else if constexpr (Bytes == 4) {
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(to.word[0]) : "r"(address));
  } else if constexpr (Bytes == 8) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(to.word[0]), "=r"(to.word[1]) : "r"(address));
  } else {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.word[0]), "=r"(to.word[1]), "=r"(to.word[2]), "=r"(to.word[3])
                 : "r"(address));
  }
  return to;
}

// One store of Bytes bytes.
template <int Bytes>
__device__ __forceinline__ void store(unsigned address, Words from) {
  if constexpr (Bytes == 1) {
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "r"(from.word[0]) : "memory");
  } else if constexpr (Bytes == 2) {
    asm volatile("{ .reg .u16 half; cvt.u16.u32 half, %1; st.shared.u16 [%0], half; }" ::"r"(address), "r"(from.word[0]) : "memory");
  } else if constexpr (Bytes == 4) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(from.word[0]) : "memory");
  } else if constexpr (Bytes == 8) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(from.word[0]), "r"(from.word[1]) : "memory");
  } else {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(from.word[0]), "r"(from.word[1]), "r"(from.word[2]),
                 "r"(from.word[3])
                 : "memory");
  }
}

// The only access to shared memory. A load goes to `results`, so that the compiler keeps it.
template <int Bytes, bool Stores>
__device__ __forceinline__ void probe(ProbeParams const& params, char* shared) {
  int const lane = threadIdx.x;
  unsigned const offset = reinterpret_cast<unsigned const*>(params.offsets)[lane];
  unsigned const address = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + offset;
  Words words{{offset, offset, offset, offset}};
  if (offset != kOff) {
    if constexpr (Stores) {
      store<Bytes>(address, words);
    } else {
      words = load<Bytes>(address);
    }
  }
  reinterpret_cast<unsigned*>(params.results)[lane] = words.word[0] ^ words.word[1] ^ words.word[2] ^ words.word[3];
}

}  // namespace banks
