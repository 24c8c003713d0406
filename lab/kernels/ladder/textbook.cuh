// Twin of lab/src/ladder/textbook.rs: the two kernels below the parameterized one. All matrices by
// rows, one element of D a thread.
#pragma once
#include "config.cuh"
#include "numeric.cuh"
#include "schedule.cuh"

namespace ladder {

// A thread's element of D: blocks run along rows of tiles, threads along rows of a tile.
template <class Config, int Side>
struct Element {
  using Accumulator = typename Config::Accumulator;
  using Compute = typename Config::Epilogue::Compute;
  using A = typename Config::A::Element;
  using B = typename Config::B::Element;
  using C = typename Config::C;

  int x, y;
  long long row, column;
  Accumulator sum{};

  template <class Params>
  __device__ __forceinline__ explicit Element(Params const& params)
      : x(threadIdx.x % Side), y(threadIdx.x / Side),
        row((long long)(blockIdx.x / params.tiles_n) * Side + y), column((long long)(blockIdx.x % params.tiles_n) * Side + x) {}

  template <class Params>
  __device__ __forceinline__ bool exists(Params const& params) const { return row < params.m && column < params.n; }

  template <class Params>
  static __device__ __forceinline__ Accumulator a(Params const& params, long long row, long long k) {
    return convert<Accumulator>(reinterpret_cast<A const*>(params.a)[row * params.lda + k]);
  }
  template <class Params>
  static __device__ __forceinline__ Accumulator b(Params const& params, long long k, long long column) {
    return convert<Accumulator>(reinterpret_cast<B const*>(params.b)[k * params.ldb + column]);
  }

  template <class Params>
  __device__ __forceinline__ void store(Params const& params) const {
    Compute scalars[8];
    for (int i = 0; i < 8; ++i) scalars[i] = convert<Compute>(params.scalars[i]);
    C c{};
    if (params.reads_source) c = reinterpret_cast<C const*>(params.operands[0].address)[row * params.operands[0].row_stride + column];
    typename Config::Epilogue::template Operands<1, 1> const operands(params, 0, {unsigned(row), {0}}, {unsigned(column), {0}});
    reinterpret_cast<C*>(params.d)[row * params.ldd + column] =
        convert<C>(Config::Epilogue::apply(convert<Compute>(sum), convert<Compute>(c), scalars, operands, 0, 0));
  }
};

// Every element of A and of B from global memory, every time.
template <class Config, int Side>
struct Naive {
  template <class Params>
  static __device__ __forceinline__ void run(Params const& params) {
    Element<Config, Side> element(params);
    if (!element.exists(params)) return;
    for (int k = 0; k < params.k; ++k)
      element.sum = mul_add(element.a(params, element.row, k), element.b(params, k, element.column), element.sum);
    element.store(params);
  }
};

// Through tiles of Side x Side in shared memory: a thread brings one element of each. The order of
// steps is the schedule's.
template <class Config, int Side, class Params>
struct SharedMemory {
  using Accumulator = typename Config::Accumulator;
  using Tile = Accumulator[Side][Side];

  Params const& params;
  Tile& a;
  Tile& b;
  Element<Config, Side> element;
  Accumulator staged_a{}, staged_b{};
  int first_k = 0;

  template <StepKind Kind, int, int>
  __device__ __forceinline__ void step() {
    int const x = element.x, y = element.y;
    if constexpr (Kind == StepKind::Fetch) {
      bool const has_a = element.row < params.m && first_k + x < params.k, has_b = first_k + y < params.k && element.column < params.n;
      staged_a = has_a ? element.a(params, element.row, first_k + x) : Accumulator{};
      staged_b = has_b ? element.b(params, first_k + y, element.column) : Accumulator{};
    } else if constexpr (Kind == StepKind::Store) {
      a[y][x] = staged_a;
      b[y][x] = staged_b;
    } else if constexpr (Kind == StepKind::MultiplyTile) {
      for (int k = 0; k < Side; ++k) element.sum = mul_add(a[y][k], b[k][x], element.sum);
    } else if constexpr (Kind == StepKind::Advance) {
      first_k += Side;
    }
  }

  static __device__ __forceinline__ void run(Params const& params) {
    __shared__ Tile a, b;
    SharedMemory self{params, a, b, Element<Config, Side>(params)};
    for (unsigned tile = 0; tile < params.tiles_k; ++tile) schedule::perform<typename Config::Schedule::Body>(self);
    if (self.element.exists(params)) self.element.store(params);
  }
};

}  // namespace ladder
