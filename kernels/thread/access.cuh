// Twin of src/thread/access.rs: one thread's access to global memory, 1 to 16 bytes wide, with or
// without a cache hint.
#pragma once

namespace thread {

// Bytes in registers: words of four bytes; fewer than four bytes use part of a word.
template <int Bytes>
struct Words {
  static constexpr int kCount = (Bytes + 3) / 4;
  unsigned word[kCount];
};

// Copies Bytes bytes from global memory to the shared-memory address `to` asynchronously, or writes
// zeros if `exists` is false. 16-byte copies bypass the L1 cache.
template <int Bytes>
__device__ __forceinline__ void copy_async(unsigned to, void const* from, bool exists) {
  int const bytes = exists ? Bytes : 0;
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes), "r"(bytes));
  }
}

// Reads Bytes bytes. With Once, the L1 cache does not keep them, and nothing may write them while
// the kernel runs.
template <int Bytes, bool Once>
__device__ __forceinline__ Words<Bytes> read(void const* address) {
  static_assert(Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8 || Bytes == 16, "no access is as wide");
  Words<Bytes> value;
  unsigned(&w)[Words<Bytes>::kCount] = value.word;
  if constexpr (Once) {
    if constexpr (Bytes == 1) asm volatile("ld.global.nc.L1::no_allocate.u8 %0, [%1];" : "=r"(w[0]) : "l"(address));
    if constexpr (Bytes == 2) asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=r"(w[0]) : "l"(address));
    if constexpr (Bytes == 4) asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(w[0]) : "l"(address));
    if constexpr (Bytes == 8) asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(address));
    if constexpr (Bytes == 16)
      asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(address));
  } else {
    if constexpr (Bytes == 1) asm volatile("ld.global.u8 %0, [%1];" : "=r"(w[0]) : "l"(address) : "memory");
    if constexpr (Bytes == 2) asm volatile("ld.global.u16 %0, [%1];" : "=r"(w[0]) : "l"(address) : "memory");
    if constexpr (Bytes == 4) asm volatile("ld.global.u32 %0, [%1];" : "=r"(w[0]) : "l"(address) : "memory");
    if constexpr (Bytes == 8) asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(address) : "memory");
    if constexpr (Bytes == 16)
      asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(address) : "memory");
  }
  return value;
}

// Writes Bytes bytes. With Stream, the L2 cache evicts them first.
template <int Bytes, bool Stream>
__device__ __forceinline__ void write(void* address, Words<Bytes> const& value) {
  unsigned const(&w)[Words<Bytes>::kCount] = value.word;
  if constexpr (Stream) {
    if constexpr (Bytes == 1) asm volatile("st.global.cs.u8 [%0], %1;" ::"l"(address), "r"(w[0]) : "memory");
    if constexpr (Bytes == 2) asm volatile("st.global.cs.u16 [%0], %1;" ::"l"(address), "r"(w[0]) : "memory");
    if constexpr (Bytes == 4) asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(address), "r"(w[0]) : "memory");
    if constexpr (Bytes == 8) asm volatile("st.global.cs.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(w[0]), "r"(w[1]) : "memory");
    if constexpr (Bytes == 16)
      asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
  } else {
    if constexpr (Bytes == 1) asm volatile("st.global.u8 [%0], %1;" ::"l"(address), "r"(w[0]) : "memory");
    if constexpr (Bytes == 2) asm volatile("st.global.u16 [%0], %1;" ::"l"(address), "r"(w[0]) : "memory");
    if constexpr (Bytes == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(w[0]) : "memory");
    if constexpr (Bytes == 8) asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(w[0]), "r"(w[1]) : "memory");
    if constexpr (Bytes == 16)
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
  }
}

}  // namespace thread
