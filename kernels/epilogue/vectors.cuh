// Twin of src/epilogue/vectors.rs: vectors and scalars of an epilogue in shared memory.
#pragma once
#include "epilogue/operands.cuh"
#include "numeric.cuh"
#include "warp/warpgroup.cuh"

namespace epilogue {

// Vectors of a part of D with `Rows` rows and `Columns` columns. The part begins at a row and a
// column of D. `address` is in the shared window.
template <int Rows, int Columns>
struct StagedVectors {
  static constexpr int kRows = Rows, kColumns = Columns;
  unsigned address;
  unsigned row, column;

  // Returns the bytes of some vectors along M, some along N, and some scalars. Each begins at a
  // multiple of 16 bytes.
  template <class Compute>
  static __device__ __forceinline__ constexpr unsigned bytes(unsigned down, unsigned across, unsigned scalars) {
    return down * padded<Compute>(Rows) + across * padded<Compute>(Columns) + scalars * padded<Compute>(1);
  }

 private:
  template <class Compute>
  static __device__ __forceinline__ constexpr unsigned padded(unsigned length) { return (length * sizeof(Compute) + 15) / 16 * 16; }
};

// Stores an element of 4 or 8 bytes.
template <class To>
__device__ __forceinline__ void store_shared(unsigned to, To element) {
  if constexpr (sizeof(To) == 4) asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(reinterpret_cast<unsigned const&>(element)) : "memory");
  else asm volatile("st.shared.b64 [%0], %1;" ::"r"(to), "l"(reinterpret_cast<unsigned long long const&>(element)) : "memory");
}

// Loads one or two elements of 4 or 8 bytes. `volatile` keeps the load behind the barriers before
// it. Without a "memory" clobber, the compiler may move accesses to global memory across the load.
template <int Count, class To>
__device__ __forceinline__ Vector<To, Count> load_shared(unsigned from) {
  Vector<To, Count> to;
  if constexpr (sizeof(To) == 4) {
    unsigned(&words)[Count] = reinterpret_cast<unsigned(&)[Count]>(to);
    if constexpr (Count == 1) asm volatile("ld.shared.b32 %0, [%1];" : "=r"(words[0]) : "r"(from));
    else asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(from));
  } else {
    unsigned long long(&words)[Count] = reinterpret_cast<unsigned long long(&)[Count]>(to);
    if constexpr (Count == 1) asm volatile("ld.shared.b64 %0, [%1];" : "=l"(words[0]) : "r"(from));
    else asm volatile("ld.shared.v2.b64 {%0, %1}, [%2];" : "=l"(words[0]), "=l"(words[1]) : "r"(from));
  }
  return to;
}

// Stages `Length` elements of a vector of `length` elements in global memory, from the first on.
// Stages 0 beyond its end, and for a vector that is not read. The threads of a warpgroup share the
// elements.
template <class From, class To, int Length, class Operand>
__device__ __forceinline__ void stage_vector(unsigned to, Operand const& vector, unsigned first, unsigned length, unsigned thread) {
  constexpr unsigned threads = warp::kWarpgroup, each = (Length + threads - 1) / threads;
  From const* const from = reinterpret_cast<From const*>(vector.address) + first;
  To elements[each];
#pragma unroll
  for (unsigned i = 0; i < each; ++i) {
    unsigned const at = thread + i * threads;
    elements[i] = vector.address != 0 && at < Length && first + at < length ? convert<To>(from[at]) : To(0);
  }
#pragma unroll
  for (unsigned i = 0; i < each; ++i) {
    unsigned const at = thread + i * threads;
    if (at < Length) store_shared(to + at * unsigned(sizeof(To)), elements[i]);
  }
}

// Stages a scalar in global memory.
template <class From, class To, class Operand>
__device__ __forceinline__ void stage_scalar(unsigned to, Operand const& scalar, unsigned product, unsigned thread) {
  if (thread != 0) return;
  To staged;
  read_scalar<From>(staged, scalar, product);
  store_shared(to, staged);
}

// Reads a staged scalar.
template <class To>
__device__ __forceinline__ void read_staged_scalar(To& to, unsigned from) { to = load_shared<1, To>(from).element[0]; }

// Reads the staged elements of a thread's rows. `first` is the row of D whose element is at `from`.
template <class To, int Count>
__device__ __forceinline__ void read_staged_rows(To (&to)[Count], unsigned from, Coordinates<Count> const& rows, unsigned first) {
#pragma unroll
  for (int i = 0; i < Count; ++i) to[i] = load_shared<1, To>(from + (rows[i] - first) * unsigned(sizeof(To))).element[0];
}

// Reads the staged elements of a thread's columns, which are pairs of neighbors. `first` is the
// column of D whose element is at `from`.
template <class To, int Count>
__device__ __forceinline__ void read_staged_columns(To (&to)[Count], unsigned from, Coordinates<Count> const& columns, unsigned first) {
  static_assert(Count % 2 == 0, "columns are pairs");
#pragma unroll
  for (int i = 0; i < Count; i += 2) {
    Vector<To, 2> const two = load_shared<2, To>(from + (columns[i] - first) * unsigned(sizeof(To)));
    to[i] = two.element[0];
    to[i + 1] = two.element[1];
  }
}

}  // namespace epilogue
