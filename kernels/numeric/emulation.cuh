// Twin of src/numeric/emulation: terms of a number, scales of rows, and blocks of K that the tiles
// of a decomposed GEMM read. All functions are constexpr, and the fingerprints evaluate them at
// compile time.
#pragma once

namespace numeric {

constexpr unsigned bits(float x) { return __builtin_bit_cast(unsigned, x); }
constexpr float number(unsigned x) { return __builtin_bit_cast(float, x); }

constexpr unsigned kMagnitude = 0x7fffffffu;
constexpr unsigned kInfinite = 0x7f800000u;

// Rounds to nearest, ties to even; truncates if a finite x would round to infinity.
constexpr unsigned nearest_bf16(float x) {
  unsigned const of = bits(x), magnitude = of & kMagnitude;
  if (magnitude > kInfinite) return of >> 16 | 0x40u;
  unsigned const near = (of + 0x7fffu + (of >> 16 & 1u)) >> 16;
  return (near & 0x7fffu) == kInfinite >> 16 ? of >> 16 : near;
}
constexpr float of_bf16(unsigned code) { return number(code << 16); }

// Rounds to nearest, ties to even, for a magnitude below 65520. Below 2^-14, adding 1/2 leaves
// multiples of 2^-24.
constexpr unsigned nearest_f16(float x) {
  unsigned const of = bits(x), magnitude = of & kMagnitude, sign = of >> 16 & 0x8000u;
  if (magnitude < 0x38800000u) return sign | (bits(number(magnitude) + 0.5f) - bits(0.5f));
  return sign | (((magnitude + 0xfffu + (magnitude >> 13 & 1u)) >> 13) - (112u << 10));
}
constexpr float of_f16(unsigned code) {
  unsigned const magnitude = code & 0x7fffu, sign = (code & 0x8000u) << 16;
  float const x = magnitude < 0x400u ? float(int(magnitude)) * 0x1p-24f : number((magnitude + (112u << 10)) << 13);
  return number(bits(x) | sign);
}

// Returns floor(log2) of a nonzero magnitude, given by its bits. Subnormal numbers are multiples of
// 2^-149.
constexpr int exponent_of(unsigned magnitude) {
  if (magnitude >> 23) return int(magnitude >> 23) - 127;
  return int(bits(float(int(magnitude))) >> 23) - 127 - 149;
}

// Returns the s for which numbers of a row with this largest magnitude are multiplied by 2^-s.
template <class Facts>
constexpr int shift_of(unsigned largest) {
  return largest == 0 ? 0 : exponent_of(largest) - int(Facts::kTop);
}

// Returns sum * 2^shift, rounded once.
constexpr float unscaled(float sum, int shift) {
  return float(double(sum) * __builtin_bit_cast(double, (unsigned long long)(shift + 1023) << 52));
}

// Returns whether a number lies below the window of its row.
template <class Facts>
constexpr bool outside(unsigned magnitude, unsigned largest) {
  return magnitude != 0 && exponent_of(magnitude) + int(Facts::kWindow) < exponent_of(largest);
}

// Returns whether a row cannot be scaled.
template <class Facts, class Line>
constexpr bool refused(Line const& line) {
  return line.largest >= kInfinite || (unsigned long long)line.outside * Facts::kFew > line.nonzero;
}

struct Terms {
  unsigned term[3];
};

template <class Facts>
constexpr Terms decompose(float x, int shift) {
  if constexpr (Facts::kScales) {
    float const scaled = unscaled(x, -shift);
    unsigned const first = nearest_f16(scaled);
    return {{first, nearest_f16(scaled - of_f16(first)), 0}};
  } else {
    unsigned const first = nearest_bf16(x);
    if ((bits(x) & kMagnitude) >= kInfinite) return {{first, 0, 0}};
    float const rest = x - of_bf16(first);
    unsigned const second = nearest_bf16(rest);
    return {{first, second, nearest_bf16(rest - of_bf16(second))}};
  }
}

// Map from (exponent and sign, sample) to a hash of the terms of the sample's number.
template <class Facts>
struct TermsMap {
  static constexpr int kRows = Facts::kScales ? 0xff : 0x200;
  static constexpr int kColumns = 24;
  static constexpr unsigned at(int row, int sample) {
    unsigned const fraction = unsigned(sample) * 0x9e3779b1u >> 9;
    unsigned const exponent = (row & 0xff) + sample < 0xfe ? (row & 0xff) + sample : 0xfe;
    Terms const terms = decompose<Facts>(number(unsigned(row) << 23 | fraction), shift_of<Facts>(exponent << 23 | fraction));
    return (terms.term[0] + 31 * terms.term[1] + 961 * terms.term[2]) & 0xfffffu;
  }
};

// tf32 terms that a warp computes from its fragments. The first is the number without the bits that
// tensor cores ignore. The second is the rest, rounded to nearest, ties away from 0, with ignored
// bits. The rest of an infinity or NaN is the canonical NaN, 0x7fffffff, which half a unit turns
// into -0.
constexpr unsigned kIgnoredOfTf32 = 0x1fffu;
constexpr unsigned kHalfOfTf32 = 0x1000u;
constexpr unsigned first_tf32(float x) { return bits(x) & ~kIgnoredOfTf32; }
constexpr unsigned second_tf32(float x) { return bits(x - number(first_tf32(x))) + kHalfOfTf32; }

// Both terms of the words of an instruction's fragment.
template <int Words, int Eights>
struct Tf32Terms {
  unsigned term[2][Words];
  __device__ __forceinline__ void take(unsigned const (&words)[Words]) {
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      term[0][w] = first_tf32(number(words[w]));
      term[1][w] = second_tf32(number(words[w]));
    }
  }
};

// Map from (exponent and sign, sample) to a hash of the tf32 terms of the sample's number, or 0 for
// infinities and NaNs.
struct Tf32TermsMap {
  static constexpr int kRows = 0x200;
  static constexpr int kColumns = 24;
  static constexpr unsigned at(int row, int sample) {
    if ((row & 0xff) == 0xff) return 0;
    float const x = number(unsigned(row) << 23 | unsigned(sample) * 0x9e3779b1u >> 9);
    return ((first_tf32(x) >> 13) + 31 * (second_tf32(x) >> 13)) & 0xfffffu;
  }
};

// Returns the term of an operand to which k-tile `tile` belongs.
template <class Facts, int Operand>
constexpr unsigned term_of(unsigned tile) {
  return (Operand == 0 ? Facts::kTermsOfA : Facts::kTermsOfB) >> tile % Facts::kProducts * 4 & 0xfu;
}

// Returns the block of an operand's row from which that tile is copied. The terms are concatenated,
// `blocks` blocks each.
template <class Facts, int Operand>
__device__ __forceinline__ constexpr unsigned block_of(unsigned tile, unsigned blocks) {
  if constexpr (Facts::kProducts == 1) {
    return tile;
  } else {
    return term_of<Facts, Operand>(tile) * blocks + tile / Facts::kProducts;
  }
}

// Map from (operand, tile) to that block.
template <class Facts, int Blocks>
struct EmulationBlocks {
  static constexpr int kRows = 2;
  static constexpr int kColumns = Blocks * Facts::kProducts;
  static constexpr unsigned at(int operand, int tile) {
    return operand == 0 ? block_of<Facts, 0>(tile, Blocks) : block_of<Facts, 1>(tile, Blocks);
  }
};

}  // namespace numeric
