// Twin of src/thread/transpose.rs: transpose of a small block of a matrix in registers.
#pragma once
#include "thread/access.cuh"

namespace thread {

__device__ __forceinline__ unsigned permute(unsigned low, unsigned high, unsigned selector) {
  unsigned word;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(low), "r"(high), "r"(selector));
  return word;
}

// Returns the contiguous elements of column `column` of a block. The block has Rows rows of
// `Columns` elements, ElementBytes bytes each.
template <int ElementBytes, int Rows, int Columns>
__device__ __forceinline__ Words<Rows * ElementBytes> take_column(Words<Columns * ElementBytes> const (&row)[Rows], int column) {
  Words<Rows * ElementBytes> out;
  if constexpr (ElementBytes >= 4) {
    constexpr int words = ElementBytes / 4;
#pragma unroll
    for (int i = 0; i < Rows; ++i)
#pragma unroll
      for (int w = 0; w < words; ++w) out.word[i * words + w] = row[i].word[column * words + w];
  } else {
    // Elements per word; the word that holds the element, and the element's first byte in it.
    constexpr int per_word = 4 / ElementBytes;
    int const word = column / per_word;
    unsigned const first = column % per_word * ElementBytes;
#pragma unroll
    for (int i = 0; i < Rows; i += per_word) {
      if constexpr (Rows == 1) {
        out.word[0] = first == 0 ? row[0].word[word] : row[0].word[word] >> (8 * first);
      } else if constexpr (ElementBytes == 2) {
        out.word[i / 2] = permute(row[i].word[word], row[i + 1].word[word], first == 0 ? 0x5410u : 0x7632u);
      } else {
        unsigned const pair = first | (first + 4) << 4;
        unsigned const low = permute(row[i].word[word], row[i + 1].word[word], pair);
        if constexpr (Rows == 2) {
          out.word[0] = low;
        } else {
          out.word[i / 4] = permute(low, permute(row[i + 2].word[word], row[i + 3].word[word], pair), 0x5410u);
        }
      }
    }
  }
  return out;
}

}  // namespace thread
