// Twin of layout/src/layout.rs: a layout as a type, and its function. A table of integers holds the
// values that the type does not.
#pragma once

namespace algebra {

using Offset = unsigned long long;

// Static integer.
template <Offset Value>
struct Int {
  template <class Integers>
  static __device__ __forceinline__ constexpr Offset value(Integers const&) { return Value; }
};

// Integer I of the table.
template <int I>
struct Dynamic {
  template <class Integers>
  static __device__ __forceinline__ constexpr Offset value(Integers const& integers) { return integers[I]; }
};

// Table for static layouts. A layout with dynamic integers does not compile with it.
struct NoIntegers {};

// Leaf: Extent coordinates, whose offsets are multiples of Stride. Coordinates have 32 bits, and
// offsets have 64.
template <class Extent, class Stride>
struct Mode {
  template <class Integers>
  static __device__ __forceinline__ constexpr unsigned size(Integers const& integers) { return unsigned(Extent::value(integers)); }
  template <class Integers>
  static __device__ __forceinline__ constexpr Offset cosize(Integers const& integers) {
    return (Extent::value(integers) - 1) * Stride::value(integers) + 1;
  }
  template <class Integers>
  static __device__ __forceinline__ constexpr Offset offset(Integers const& integers, unsigned index) {
    return index * Stride::value(integers);
  }
};

template <class... Modes>
struct Layout;

template <class Only>
struct Layout<Only> : Only {};

template <class First, class... Others>
struct Layout<First, Others...> {
  using Rest = Layout<Others...>;

  template <class Integers>
  static __device__ __forceinline__ constexpr unsigned size(Integers const& integers) {
    return First::size(integers) * Rest::size(integers);
  }
  template <class Integers>
  static __device__ __forceinline__ constexpr Offset cosize(Integers const& integers) {
    return First::cosize(integers) + Rest::cosize(integers) - 1;
  }
  // Returns the offset of the coordinate that an integer counts out, with the first mode fastest.
  template <class Integers>
  static __device__ __forceinline__ constexpr Offset offset(Integers const& integers, unsigned index) {
    unsigned const size = First::size(integers);
    return First::offset(integers, index % size) + Rest::offset(integers, index / size);
  }
  // Returns the offset of a coordinate with one integer per mode.
  template <class Integers, class... Members>
  static __device__ __forceinline__ constexpr Offset offset(Integers const& integers, unsigned first, unsigned second, Members... more) {
    static_assert(1 + sizeof...(Members) == sizeof...(Others), "a coordinate has a member for each mode");
    return First::offset(integers, first) + Rest::offset(integers, second, more...);
  }
};

// Mode I of a layout.
template <int I, class Layout>
struct At;
template <class First, class... Others>
struct At<0, Layout<First, Others...>> {
  using Type = First;
};
template <int I, class First, class... Others>
struct At<I, Layout<First, Others...>> : At<I - 1, Layout<Others...>> {};

template <int I, class Layout>
using ModeOf = typename At<I, Layout>::Type;

// Returns the static size of mode I. It is a function, because a constant would be placed in device
// memory.
template <int I, class Layout>
__device__ __forceinline__ constexpr unsigned extent() {
  return ModeOf<I, Layout>::size(NoIntegers{});
}

}  // namespace algebra
