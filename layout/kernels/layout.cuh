// Twin of layout/src/layout.rs: a layout as a type, and its function. What the type does not know
// is in a table of integers.
#pragma once

namespace algebra {

using Offset = unsigned long long;

// An integer that the type carries.
template <Offset Value>
struct Int {
  template <class Integers>
  static __device__ __forceinline__ constexpr Offset value(Integers const&) { return Value; }
};

// The I-th of the integers.
template <int I>
struct Dynamic {
  template <class Integers>
  static __device__ __forceinline__ constexpr Offset value(Integers const& integers) { return integers[I]; }
};

// The table of a layout whose type knows it all; another layout does not compile with it.
struct NoIntegers {};

// A leaf: Extent coordinates, each Stride after the one before. Coordinates are counted in 32 bits,
// offsets in 64.
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
  // Of the coordinate that an integer counts out, the first mode fastest.
  template <class Integers>
  static __device__ __forceinline__ constexpr Offset offset(Integers const& integers, unsigned index) {
    unsigned const size = First::size(integers);
    return First::offset(integers, index % size) + Rest::offset(integers, index / size);
  }
  // Of a coordinate: an integer for each mode.
  template <class Integers, class... Members>
  static __device__ __forceinline__ constexpr Offset offset(Integers const& integers, unsigned first, unsigned second, Members... more) {
    static_assert(1 + sizeof...(Members) == sizeof...(Others), "a coordinate has a member for each mode");
    return First::offset(integers, first) + Rest::offset(integers, second, more...);
  }
};

// The I-th mode of a layout.
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

// The size of the I-th mode, which the type knows. A constant would go to the device's memory.
template <int I, class Layout>
__device__ __forceinline__ constexpr unsigned extent() {
  return ModeOf<I, Layout>::size(NoIntegers{});
}

}  // namespace algebra
