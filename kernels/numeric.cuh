// Twin of src/numeric: element types, conversions, and arithmetic, with the rounding of the host.
// It uses PTX and no system header.
#pragma once

struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };
struct e4m3 { unsigned char bits; };
struct e5m2 { unsigned char bits; };
// Any f32. It is not rounded in transit: tensor cores read the upper 19 bits and ignore the others.
struct tf32 { float value; };

// --- conversions: convert<To>(from) ---

template <class To>
struct Convert {
  __device__ __forceinline__ static To from(To x) { return x; }
};

template <>
struct Convert<float> {
  __device__ __forceinline__ static float from(float x) { return x; }
  __device__ __forceinline__ static float from(double x) { return __double2float_rn(x); }
  __device__ __forceinline__ static float from(int x) { return __int2float_rn(x); }
  __device__ __forceinline__ static float from(signed char x) { return __int2float_rn(x); }
  __device__ __forceinline__ static float from(unsigned char x) { return __int2float_rn(x); }
  __device__ __forceinline__ static float from(bf16 x) { return __uint_as_float(unsigned(x.bits) << 16); }
  __device__ __forceinline__ static float from(f16 x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
  }
  // Exact conversion through f16, which contains every number of both types. The instructions
  // convert pairs and need sm_89.
  __device__ __forceinline__ static float from(e4m3 x) {
    unsigned pair;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)x.bits));
    return from(f16{(unsigned short)pair});
  }
  __device__ __forceinline__ static float from(e5m2 x) {
    unsigned pair;
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)x.bits));
    return from(f16{(unsigned short)pair});
  }
};

template <>
struct Convert<double> {
  __device__ __forceinline__ static double from(double x) { return x; }
  __device__ __forceinline__ static double from(float x) { return x; }
  __device__ __forceinline__ static double from(int x) { return x; }
};

template <>
struct Convert<int> {
  __device__ __forceinline__ static int from(int x) { return x; }
  __device__ __forceinline__ static int from(signed char x) { return x; }
  __device__ __forceinline__ static int from(unsigned char x) { return x; }
  // Rounds to nearest, ties to even; saturates beyond the range; NaN becomes 0.
  __device__ __forceinline__ static int from(float x) { return __float2int_rn(x); }
  // The instruction converts NaN to the smallest integer.
  __device__ __forceinline__ static int from(double x) { return x == x ? __double2int_rn(x) : 0; }
};

template <>
struct Convert<signed char> {
  __device__ __forceinline__ static signed char from(int x) { return x < -128 ? -128 : x > 127 ? 127 : x; }
  __device__ __forceinline__ static signed char from(float x) { return from(__float2int_rn(x)); }
};

template <>
struct Convert<unsigned char> {
  __device__ __forceinline__ static unsigned char from(int x) { return x < 0 ? 0 : x > 255 ? 255 : x; }
  __device__ __forceinline__ static unsigned char from(float x) { return from(__float2int_rn(x)); }
};

template <>
struct Convert<f16> {
  __device__ __forceinline__ static f16 from(f16 x) { return x; }
  __device__ __forceinline__ static f16 from(float x) {
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
};

template <>
struct Convert<bf16> {
  // Rounds to nearest, ties to even; NaN becomes 0x7fff. Uses integer arithmetic on machines
  // without the instruction.
  __device__ __forceinline__ static bf16 from(float x) {
#if __CUDA_ARCH__ >= 800
    bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
#else
    unsigned const bits = __float_as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return bf16{0x7fff};
    return bf16{(unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
#endif
  }
};

// Numbers beyond the largest become the largest; NaN becomes 0x7f.
template <>
struct Convert<e4m3> {
  __device__ __forceinline__ static e4m3 from(float x) {
    unsigned short pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return e4m3{(unsigned char)pair};
  }
};

template <>
struct Convert<e5m2> {
  __device__ __forceinline__ static e5m2 from(float x) {
    unsigned short pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return e5m2{(unsigned char)pair};
  }
};

template <class To, class From>
__device__ __forceinline__ To convert(From x) {
  return Convert<To>::from(x);
}

// Instruction that converts two f32 numbers at a time, and the word of the pair.
template <class To> struct PairOf { static constexpr bool exists = false; };
template <> struct PairOf<f16> { static constexpr bool exists = true; using Word = unsigned; };
template <> struct PairOf<bf16> { static constexpr bool exists = true; using Word = unsigned; };
template <> struct PairOf<e4m3> { static constexpr bool exists = true; using Word = unsigned short; };
template <> struct PairOf<e5m2> { static constexpr bool exists = true; using Word = unsigned short; };

template <class One, class Other> struct IsSame { static constexpr bool value = false; };
template <class One> struct IsSame<One, One> { static constexpr bool value = true; };

// Returns two neighbors in one word, the first in the low half.
template <class To>
__device__ __forceinline__ typename PairOf<To>::Word convert_pair(float first, float second) {
  typename PairOf<To>::Word word;
  if constexpr (IsSame<To, e4m3>::value) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(word) : "f"(second), "f"(first));
  } else if constexpr (IsSame<To, e5m2>::value) {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(word) : "f"(second), "f"(first));
  } else {
#if __CUDA_ARCH__ >= 800
    if constexpr (IsSame<To, bf16>::value) {
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    } else {
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    }
#else
    word = convert<To>(first).bits | unsigned(convert<To>(second).bits) << 16;
#endif
  }
  return word;
}

// --- two halves in one register ---

// Two neighbors, the first in the low half.
struct f16x2 { unsigned bits; };

__device__ __forceinline__ f16x2 pair_of(f16 first, f16 second) { return f16x2{first.bits | unsigned(second.bits) << 16}; }
__device__ __forceinline__ f16 half_of(f16x2 pair, int i) { return f16{(unsigned short)(pair.bits >> i * 16)}; }

__device__ __forceinline__ void put_half(f16x2& pair, int i, f16 half) { pair.bits = (pair.bits & (0xffff0000u >> i * 16)) | unsigned(half.bits) << i * 16; }

__device__ __forceinline__ f16x2 swapped(f16x2 pair) { return f16x2{__byte_perm(pair.bits, 0, 0x1032)}; }

// --- accumulators: a * b + c, rounded once; integers wrap ---

__device__ __forceinline__ float mul_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ double mul_add(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ __forceinline__ int mul_add(int a, int b, int c) { return int(unsigned(a) * unsigned(b) + unsigned(c)); }
__device__ __forceinline__ f16 mul_add(f16 a, f16 b, f16 c) {
  f16 d;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(d.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return d;
}
// Performs both multiply-adds with one instruction; each is rounded separately.
__device__ __forceinline__ f16x2 mul_add(f16x2 a, f16x2 b, f16x2 c) {
  f16x2 d;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits), "r"(c.bits));
  return d;
}

__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
// Returns a saturating sum.
__device__ __forceinline__ int plus_saturated(int a, int b) {
  int sum;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
__device__ __forceinline__ f16 plus(f16 a, f16 b) {
  f16 c;
  asm("add.rn.f16 %0, %1, %2;" : "=h"(c.bits) : "h"(a.bits), "h"(b.bits));
  return c;
}
__device__ __forceinline__ f16x2 plus(f16x2 a, f16x2 b) {
  f16x2 c;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(c.bits) : "r"(a.bits), "r"(b.bits));
  return c;
}

// Type in which split-K partials are added: f32 for f16, an exact conversion.
template <class Accumulator> struct SumOf { using Type = Accumulator; };
template <> struct SumOf<f16> { using Type = float; };

// --- epilogues ---

// Rounded to nearest, and never fused into a multiply-add: compiled with --fmad=false. The compiler
// folds a scale of 1.
__device__ __forceinline__ float times(float a, float b) { return a * b; }
__device__ __forceinline__ double times(double a, double b) { return a * b; }
__device__ __forceinline__ int times(int a, int b) { return int(unsigned(a) * unsigned(b)); }

// Returns scale * x, or 0 if scale is 0, for every x.
template <class Compute>
__device__ __forceinline__ Compute scaled(Compute scale, Compute x) {
  return scale == Compute(0) ? Compute(0) : times(scale, x);
}

// Returns what scaled returns for an operand that is not read if scale is 0, because x is +0 then.
template <class Compute>
__device__ __forceinline__ Compute scaled_operand(Compute scale, Compute x) {
  return times(plus(scale, Compute(0)), x);
}

// --- vectors ---

// N neighboring elements that move in one access.
template <class Element, int N>
struct alignas(sizeof(Element) * N) Vector {
  Element element[N];
};

// Returns numbers converted to neighbors in memory; one instruction converts a pair of numbers of 8
// or 16 bits.
template <class To, class From, int N>
__device__ __forceinline__ Vector<To, N> converted(From const (&from)[N]) {
  Vector<To, N> to;
  if constexpr (PairOf<To>::exists && IsSame<From, float>::value && N % 2 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 2) *reinterpret_cast<typename PairOf<To>::Word*>(to.element + i) = convert_pair<To>(from[i], from[i + 1]);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) to.element[i] = convert<To>(from[i]);
  }
  return to;
}

// Bytes in transit, in as few registers as possible: a vector of small elements would use one
// register per element.
template <int Bytes>
struct alignas(Bytes) Packed {
  static constexpr int kWordBytes = 4;
  unsigned word[Bytes / kWordBytes];
};

template <>
struct alignas(2) Packed<2> {
  static constexpr int kWordBytes = 2;
  unsigned short word[1];
};

template <>
struct Packed<1> {
  static constexpr int kWordBytes = 1;
  unsigned char word[1];
};

// Returns bytes [at, at + Piece) of the whole; `at` is a multiple of Piece.
template <int Piece, int Bytes>
__device__ __forceinline__ Packed<Piece> piece_of(Packed<Bytes> const& whole, int at) {
  constexpr int of = Packed<Bytes>::kWordBytes, to = Packed<Piece>::kWordBytes;
  Packed<Piece> piece;
#pragma unroll
  for (int i = 0; i < Piece; i += to) piece.word[i / to] = whole.word[(at + i) / of] >> (at + i) % of * 8;
  return piece;
}
