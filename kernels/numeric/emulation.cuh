// Twin of src/numeric/emulation: the parts of a number, what a row is scaled by, and which block of
// K a tile of a decomposed product reads. All of it can be evaluated while compiling, and is, for
// the fingerprints.
#pragma once

namespace numeric {

constexpr unsigned bits(float x) { return __builtin_bit_cast(unsigned, x); }
constexpr float number(unsigned x) { return __builtin_bit_cast(float, x); }

constexpr unsigned kMagnitude = 0x7fffffffu;
constexpr unsigned kInfinite = 0x7f800000u;

// To nearest, ties to even; cut off where that would be infinite and x is not.
constexpr unsigned nearest_bf16(float x) {
  unsigned const of = bits(x), magnitude = of & kMagnitude;
  if (magnitude > kInfinite) return of >> 16 | 0x40u;
  unsigned const near = (of + 0x7fffu + (of >> 16 & 1u)) >> 16;
  return (near & 0x7fffu) == kInfinite >> 16 ? of >> 16 : near;
}
constexpr float of_bf16(unsigned code) { return number(code << 16); }

// To nearest, ties to even, of a magnitude below 65520. Below 2^-14, adding 1/2 leaves multiples of
// 2^-24.
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

// floor(log2) of a magnitude that is not 0, by its bits. Subnormal ones are multiples of 2^-149.
constexpr int exponent_of(unsigned magnitude) {
  if (magnitude >> 23) return int(magnitude >> 23) - 127;
  return int(bits(float(int(magnitude))) >> 23) - 127 - 149;
}

// Numbers of a row of this largest magnitude are multiplied by two to the power of minus this.
template <class Facts>
constexpr int shift_of(unsigned largest) {
  return largest == 0 ? 0 : exponent_of(largest) - int(Facts::kTop);
}

// sum * 2^shift, rounded once.
constexpr float unscaled(float sum, int shift) {
  return float(double(sum) * __builtin_bit_cast(double, (unsigned long long)(shift + 1023) << 52));
}

// Whether a number lies further below the largest of its row than the window is wide.
template <class Facts>
constexpr bool outside(unsigned magnitude, unsigned largest) {
  return magnitude != 0 && exponent_of(magnitude) + int(Facts::kWindow) < exponent_of(largest);
}

// Whether a row cannot be scaled.
template <class Facts, class Line>
constexpr bool refused(Line const& line) {
  return line.largest >= kInfinite || (unsigned long long)line.outside * Facts::kFew > line.nonzero;
}

struct Parts {
  unsigned part[3];
};

template <class Facts>
constexpr Parts parts_of(float x, int shift) {
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

// The map (exponent and sign, sample) to a number made of the parts of the sample's number.
template <class Facts>
struct PartsMap {
  static constexpr int kRows = Facts::kScales ? 0xff : 0x200;
  static constexpr int kColumns = 24;
  static constexpr unsigned at(int row, int sample) {
    unsigned const fraction = unsigned(sample) * 0x9e3779b1u >> 9;
    unsigned const exponent = (row & 0xff) + sample < 0xfe ? (row & 0xff) + sample : 0xfe;
    Parts const parts = parts_of<Facts>(number(unsigned(row) << 23 | fraction), shift_of<Facts>(exponent << 23 | fraction));
    return (parts.part[0] + 31 * parts.part[1] + 961 * parts.part[2]) & 0xfffffu;
  }
};

// The parts of tf32 that a warp makes of its fragments: without the bits that tensor cores ignore;
// and the rest, to nearest, ties away from 0, with bits that they ignore. Of what is not finite the
// rest is the canonical NaN, 0x7fffffff, and half a unit makes -0 of it.
constexpr unsigned kIgnoredOfTf32 = 0x1fffu;
constexpr unsigned kHalfOfTf32 = 0x1000u;
constexpr unsigned first_tf32(float x) { return bits(x) & ~kIgnoredOfTf32; }
constexpr unsigned second_tf32(float x) { return bits(x - number(first_tf32(x))) + kHalfOfTf32; }

// Both of the words of an instruction's fragment.
template <int Words, int Eights>
struct Tf32Parts {
  unsigned part[2][Words];
  __device__ __forceinline__ void take(unsigned const (&words)[Words]) {
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      part[0][w] = first_tf32(number(words[w]));
      part[1][w] = second_tf32(number(words[w]));
    }
  }
};

// The words of a fragment rounded to bf16, to nearest even, two in one: those that lie four k's
// apart. Of A, `Eights` words belong to as many eights of rows.
template <int Words, int Eights>
struct Bf16Pairs {
  unsigned part[1][Words / 2];
  static constexpr int kRows = Words / 2;
  static constexpr int kColumns = 2;
  // The map (word, element of it) to the fragment's word.
  static __device__ __forceinline__ constexpr int at(int word, int element) { return word % Eights + (word / Eights * 2 + element) * Eights; }
  __device__ __forceinline__ void take(unsigned const (&words)[Words]) {
#pragma unroll
    for (int w = 0; w < Words / 2; ++w) asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(part[0][w]) : "f"(number(words[at(w, 1)])), "f"(number(words[at(w, 0)])));
  }
};

// The map (exponent and sign, sample) to a number made of those of the sample's number; of what is
// not finite, 0.
struct Tf32PartsMap {
  static constexpr int kRows = 0x200;
  static constexpr int kColumns = 24;
  static constexpr unsigned at(int row, int sample) {
    if ((row & 0xff) == 0xff) return 0;
    float const x = number(unsigned(row) << 23 | unsigned(sample) * 0x9e3779b1u >> 9);
    return ((first_tf32(x) >> 13) + 31 * (second_tf32(x) >> 13)) & 0xfffffu;
  }
};

// The part of an operand that k-tile `tile` is of.
template <class Facts, int Operand>
constexpr unsigned part_of(unsigned tile) {
  return (Operand == 0 ? Facts::kPartsOfA : Facts::kPartsOfB) >> tile % Facts::kProducts * 4 & 0xfu;
}

// The block of an operand's row from which that tile is copied: parts of `blocks` blocks lie side
// by side.
template <class Facts, int Operand>
__device__ __forceinline__ constexpr unsigned block_of(unsigned tile, unsigned blocks) {
  if constexpr (Facts::kProducts == 1) {
    return tile;
  } else {
    return part_of<Facts, Operand>(tile) * blocks + tile / Facts::kProducts;
  }
}

// The map (operand, tile) to that block.
template <class Facts, int Blocks>
struct EmulationBlocks {
  static constexpr int kRows = 2;
  static constexpr int kColumns = Blocks * Facts::kProducts;
  static constexpr unsigned at(int operand, int tile) {
    return operand == 0 ? block_of<Facts, 0>(tile, Blocks) : block_of<Facts, 1>(tile, Blocks);
  }
};

}  // namespace numeric
