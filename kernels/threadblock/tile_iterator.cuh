// Twin of src/threadblock/tile_iterator.rs: one thread's walk over an operand's tiles, along K.
#pragma once
#include "threadblock/gate_map.cuh"
#include "threadblock/row_index.cuh"
#include "threadblock/thread_map.cuh"

namespace threadblock {

// An access is one step along the contiguous index and one across. `mn` and `k` name the steps by
// index.
template <class Operand>
struct TileIterator {
  using Facts = Operand;
  using Element = typename Operand::Element;
  using Map = ThreadMap<Operand>;
  static constexpr int kAccess = Operand::kAccess;
  // Distance between a thread's steps in elements.
  static constexpr int kStepContiguous = Map::kThreadsContiguous * kAccess;
  static constexpr int kStepStrided = Map::kThreadsStrided;
  static constexpr int kStepMn = Operand::kContiguousK ? kStepStrided : kStepContiguous;
  static constexpr int kStepK = Operand::kContiguousK ? kStepContiguous : kStepStrided;

  // The thread's first element of the tile, and its coordinate in the tile.
  Element const* pointer;
  long long leading;
  int mn, k;
  // Elements within the operand from the thread's first element on; zero or negative if there are
  // none.
  int left_mn, left_k;

  // `origin` is the tile's first M or N and lies within `extent`.
  template <class Params>
  __device__ __forceinline__ TileIterator(Params const&, void const* base, long long leading, int origin, int extent_mn, int extent_k, int thread)
      : leading(leading) {
    int const contiguous = Map::contiguous(thread) * kAccess, strided = Map::strided(thread);
    mn = Operand::kContiguousK ? strided : contiguous;
    k = Operand::kContiguousK ? contiguous : strided;
    left_mn = extent_mn - origin - mn;
    left_k = extent_k - k;
    long long const row = (long long)origin + mn;
    pointer = static_cast<Element const*>(base) + (Operand::kContiguousK ? row * leading + k : k * leading + row);
  }

  static constexpr int step_contiguous(int access) { return access % Map::kStepsContiguous; }
  static constexpr int step_strided(int access) { return access / Map::kStepsContiguous; }
  static constexpr int step_mn(int access) { return Operand::kContiguousK ? step_strided(access) : step_contiguous(access); }
  static constexpr int step_k(int access) { return Operand::kContiguousK ? step_contiguous(access) : step_strided(access); }

  // Offset of an element of an access from the thread's first element.
  static constexpr int mn_of(int access, int element) { return step_mn(access) * kStepMn + (Operand::kContiguousK ? 0 : element); }
  static constexpr int k_of(int access, int element) { return step_k(access) * kStepK + (Operand::kContiguousK ? element : 0); }

  // Returns whether the thread performs this access.
  __device__ __forceinline__ bool active(int access) const {
    int const strided = Operand::kContiguousK ? mn : k;
    return !Map::kIdle || strided + step_strided(access) * kStepStrided < Operand::kVectorsStrided;
  }

  // Returns whether the elements exist. Extents along the contiguous index are multiples of an
  // access.
  __device__ __forceinline__ bool exists(int access) const {
    return step_mn(access) * kStepMn < left_mn && step_k(access) * kStepK < left_k;
  }

  __device__ __forceinline__ Element const* address(int access) const {
    return pointer + step_strided(access) * kStepStrided * leading + step_contiguous(access) * kStepContiguous;
  }

  // Advances to the next k-tile.
  __device__ __forceinline__ void advance() {
    pointer += Operand::kContiguousK ? (long long)Operand::kTileK : Operand::kTileK * leading;
    left_k -= Operand::kTileK;
  }

  // Begins at element `first` along K. The extent along K counts from this element.
  __device__ __forceinline__ void start_at(unsigned first) { pointer += Operand::kContiguousK ? (long long)first : first * leading; }

  // Skips `tiles` k-tiles, all of which begin within K.
  __device__ __forceinline__ void skip(unsigned tiles) {
    long long const k = (long long)tiles * Operand::kTileK;
    pointer += Operand::kContiguousK ? k : k * leading;
    left_k -= int(k);
  }
};

// Walk over an operand whose lines along MN an index list selects. The thread loads the indices of
// its lines once.
template <class Operand, int Number>
struct IndexedIterator : TileIterator<Operand> {
  using Base = TileIterator<Operand>;
  using typename Base::Element;
  static constexpr int kLines = Operand::kContiguousK ? Base::Map::kStepsStrided : Base::Map::kStepsContiguous;
  static_assert(Operand::kContiguousK || Operand::kAccess == 1, "neighboring lines are apart in memory");

  // Lines of the thread in memory.
  unsigned line[kLines];

  template <class Params>
  __device__ __forceinline__ IndexedIterator(Params const& params, void const* base, long long leading, int origin, int extent_mn, int extent_k, int thread)
      : Base(params, base, leading, origin, extent_mn, extent_k, thread) {
    this->pointer = static_cast<Element const*>(base) + (Operand::kContiguousK ? this->k : this->k * leading);
#pragma unroll
    for (int i = 0; i < kLines; ++i) line[i] = i * Base::kStepMn < this->left_mn ? indexed_line(params.indices[Number], origin + this->mn + i * Base::kStepMn) : kNoLine;
  }

  __device__ __forceinline__ bool exists(int access) const {
    return line[Base::step_mn(access)] != kNoLine && Base::step_k(access) * Base::kStepK < this->left_k;
  }

  __device__ __forceinline__ Element const* address(int access) const {
    long long const at = line[Base::step_mn(access)];
    if constexpr (Operand::kContiguousK) return this->pointer + at * this->leading + Base::step_contiguous(access) * Base::kStepContiguous;
    return this->pointer + at + Base::step_strided(access) * Base::kStepStrided * this->leading;
  }
};

// Walk over the two matrices of B that a gate combines. Map is the GateMap of the tile. The thread
// keeps the offset of each of its columns. `origin` and `extent_mn` are those of D.
template <class Operand, class Map>
struct GatedIterator : TileIterator<Operand> {
  using Base = TileIterator<Operand>;
  using typename Base::Element;
  static constexpr int kLines = Operand::kContiguousK ? Base::Map::kStepsStrided : Base::Map::kStepsContiguous;
  static_assert(Operand::kContiguousK || Map::kHalf % Operand::kAccess == 0, "an access has columns of one matrix");
  static constexpr long long kNowhere = -1ll << 63;

  // Offsets of the thread's columns in elements, or kNowhere.
  long long line[kLines];

  template <class Params>
  __device__ __forceinline__ GatedIterator(Params const& params, void const* base, long long leading, int origin, int extent_mn, int extent_k, int thread)
      : Base(params, base, leading, origin, extent_mn, extent_k, thread) {
    this->pointer = static_cast<Element const*>(base) + (Operand::kContiguousK ? this->k : this->k * leading);
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      int const at = this->mn + i * Base::kStepMn, column = origin + Map::column_of_d(at);
      long long const offset = Map::matrix(at) * params.gate_stride + column * (Operand::kContiguousK ? leading : 1ll);
      line[i] = at < Map::kColumns && column < extent_mn ? offset : kNowhere;
    }
  }

  __device__ __forceinline__ bool exists(int access) const {
    return line[Base::step_mn(access)] != kNowhere && Base::step_k(access) * Base::kStepK < this->left_k;
  }

  __device__ __forceinline__ Element const* address(int access) const {
    Element const* const first = this->pointer + line[Base::step_mn(access)];
    if constexpr (Operand::kContiguousK) return first + Base::step_contiguous(access) * Base::kStepContiguous;
    return first + Base::step_strided(access) * Base::kStepStrided * this->leading;
  }
};

// Walk over operand Number.
template <class Config, class Operand, int Number>
using IteratorOf = typename index::Either<
    Config::kGated && Number == 1, GatedIterator<Operand, GateMap<Config::kGateWarp, Config::kTileN>>,
    typename index::Either<Operand::kIndexed, IndexedIterator<Operand, Number>, TileIterator<Operand>>::Type>::Type;

}  // namespace threadblock
