// Twin of src/numeric/transform.rs: transforms of operands in registers. A transform is a struct
// with a function `of`: stored number to multiplied number, both as `float`.
#pragma once
#include "numeric.cuh"
#include "numeric/emulation.cuh"

namespace numeric {

// The transform of an operand that is multiplied as stored.
struct AsStored {
  template <class T>
  static __device__ __forceinline__ constexpr T of(T x) { return x; }
};

// Words of a fragment that the instruction reads as stored, beside an operand with a transform.
template <int Words, int Eights>
struct StoredWords {
  unsigned term[1][Words];
  __device__ __forceinline__ void take(unsigned const (&words)[Words]) {
#pragma unroll
    for (int w = 0; w < Words; ++w) term[0][w] = words[w];
  }
};

// Map from (word of the instruction, element of the word) to a fragment's word, if the instruction
// packs two 32-bit elements per word: those whose k differ by four. For A, `Eights` consecutive
// words belong to different groups of eight rows.
template <int Words, int Eights>
struct WordPairs {
  static constexpr int kRows = Words / 2;
  static constexpr int kColumns = 2;
  static __device__ __forceinline__ constexpr int at(int word, int element) { return word % Eights + (word / Eights * 2 + element) * Eights; }
};

// Words of a fragment after a transform, from elements of type Stored to elements of type
// Multiplied. Pairs are rounded with one instruction.
template <class Transform, class Stored, class Multiplied, int Words, int Eights>
struct TransformedWords {
  static constexpr int kNarrowing = sizeof(Stored) / sizeof(Multiplied);
  unsigned term[1][Words / kNarrowing];
  __device__ __forceinline__ void take(unsigned const (&words)[Words]) {
#pragma unroll
    for (int w = 0; w < Words / kNarrowing; ++w) {
      if constexpr (sizeof(Multiplied) == sizeof(float)) {
        term[0][w] = bits(Transform::of(number(words[w])));
      } else if constexpr (kNarrowing == 2) {
        using Pairs = WordPairs<Words, Eights>;
        term[0][w] = convert_pair<Multiplied>(Transform::of(number(words[Pairs::at(w, 0)])), Transform::of(number(words[Pairs::at(w, 1)])));
      } else {
        term[0][w] = convert_pair<Multiplied>(Transform::of(half(words[w])), Transform::of(half(words[w] >> 16)));
      }
    }
  }

 private:
  // Returns the number in the low half of a word.
  static __device__ __forceinline__ float half(unsigned word) { return convert<float>(Stored{(unsigned short)word}); }
};

}  // namespace numeric
