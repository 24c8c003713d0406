//! Kernel around a ring whose operands are constant within a stage. Its result therefore depends
//! only on the tiles that are multiplied, and not on layouts.
#![allow(dead_code, reason = "shared by test binaries, each of which uses a part of it")]

use crate::harness::prelude::*;
use falchion::internals::sys::nvrtc::Program;

/// Number of subtiles of a warpgroup's tile, with 8 accumulators per thread each.
pub const SLICES: u32 = 4;

/// Number of different stage constants in global memory.
pub const CONSTANTS: u32 = 61;

/// Returns the constant that fills a stage. The kernel contains the same formula.
pub fn constant(owner: u32, tile: u32, k: u32) -> u32 {
    (owner * 7 + tile * 5 + k) % CONSTANTS
}

/// Kernel text without the facts: four `m64n64k16` instructions of bf16 per stage.
const KERNEL: &str = r#"
using Ring = threadblock::Pipeline<RingFacts>;

struct Arguments {
  unsigned long long a, b, d;
  unsigned tiles, k_tiles;
};

// Index of the constant that fills a stage.
__device__ __forceinline__ unsigned constant(unsigned owner, unsigned tile, unsigned k) { return (owner * 7 + tile * 5 + k) % CONSTANTS; }

__device__ __forceinline__ unsigned rank() {
  unsigned r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

struct Tiles : schedule::roles::State<Ring> {
  Arguments const& arguments;
  int tile = -1;
  __device__ Tiles(Arguments const& arguments, unsigned shared, unsigned consumer, unsigned thread)
      : schedule::roles::State<Ring>(shared, consumer, thread), arguments(arguments) {}
  __device__ bool next_tile() { return ++tile < int(arguments.tiles); }
  __device__ unsigned k_tiles() const { return arguments.k_tiles; }
  __device__ bool stores() const { return true; }
};

struct Producer : Tiles {
  using Tiles::Tiles;
  __device__ bool goes_on() const { return leads(); }

  template <RoleStepKind Kind, int Operand, int>
  __device__ __forceinline__ void step() {
    constexpr unsigned shares = Operand == 0 ? Ring::kSharesA : Ring::kSharesB;
    constexpr unsigned whole = Operand == 0 ? Ring::kBytesA : Ring::kBytesB;
    unsigned const owner = shares > 1 ? blockIdx.x / shares : blockIdx.x;
    unsigned const share = shares > 1 ? rank() * (whole / shares) : 0;
    unsigned long long const from =
        (Operand == 0 ? arguments.a : arguments.b) + (unsigned long long)constant(owner + Operand, tile, k) * whole + share;
    unsigned const to = (Operand == 0 ? stage_a() : stage_b()) + share;
    if constexpr (shares > 1) {
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                   ::"r"(to), "l"(from), "r"(whole / shares), "r"(full()), "h"((unsigned short)((1 << shares) - 1)) : "memory");
    } else {
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                   ::"r"(to), "l"(from), "r"(whole), "r"(full()) : "memory");
    }
  }
};

// Rows of 16 bytes without a swizzle. Neighbors along K are 128 bytes apart, and neighbors along
// the other axis 256 bytes.
__device__ __forceinline__ unsigned long long descriptor(unsigned address) {
  return (unsigned long long)((address & 0x3ffff) >> 4) | (8ull << 16) | (16ull << 32);
}

struct Consumer : Tiles {
  using Tiles::Tiles;
  float accumulators[32];

  __device__ __forceinline__ void pin() {
#pragma unroll
    for (int i = 0; i < 32; ++i) asm volatile("" : "+f"(accumulators[i])::"memory");
  }

  template <RoleStepKind Kind, int Subtile, int>
  __device__ __forceinline__ void step() {
    if constexpr (Kind == RoleStepKind::MultiplyStage) {
#pragma unroll
      for (int i = 0; i < 4; ++i) multiply(stage_a() + consumer * 8192 + i * 2048, stage_b() + i * 2048, k != 0 || i != 0);
    } else if constexpr (Kind == RoleStepKind::StoreStaging) {
      unsigned const to = staging(Subtile) + thread * 32;
      float const zero = 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        float const sum = arguments.k_tiles == 0 ? zero : accumulators[Subtile * 8 + i];
        asm volatile("st.shared.f32 [%0], %1;" ::"r"(to + 4 * i), "f"(sum) : "memory");
      }
    } else if (leads()) {
      unsigned long long const subtile = ((blockIdx.x * arguments.tiles + tile) * Ring::kConsumers + consumer) * 4ull + Subtile;
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                   ::"l"(arguments.d + subtile * 4096), "r"(staging(Subtile)), "r"(4096) : "memory");
    }
  }

 private:
  __device__ __forceinline__ void multiply(unsigned a, unsigned b, bool accumulate) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
        "%32, %33, p, 1, 1, 0, 0;\n}"
        : "+f"(accumulators[0]), "+f"(accumulators[1]), "+f"(accumulators[2]), "+f"(accumulators[3]), "+f"(accumulators[4]), "+f"(accumulators[5]), "+f"(accumulators[6]), "+f"(accumulators[7]),
          "+f"(accumulators[8]), "+f"(accumulators[9]), "+f"(accumulators[10]), "+f"(accumulators[11]), "+f"(accumulators[12]), "+f"(accumulators[13]), "+f"(accumulators[14]),
          "+f"(accumulators[15]), "+f"(accumulators[16]), "+f"(accumulators[17]), "+f"(accumulators[18]), "+f"(accumulators[19]), "+f"(accumulators[20]), "+f"(accumulators[21]),
          "+f"(accumulators[22]), "+f"(accumulators[23]), "+f"(accumulators[24]), "+f"(accumulators[25]), "+f"(accumulators[26]), "+f"(accumulators[27]), "+f"(accumulators[28]),
          "+f"(accumulators[29]), "+f"(accumulators[30]), "+f"(accumulators[31])
        : "l"(descriptor(a)), "l"(descriptor(b)), "r"(int(accumulate)));
  }
};

extern __shared__ __align__(1024) char memory[];

extern "C" __global__ void CLUSTER __launch_bounds__(128 * (1 + Ring::kConsumers), 1) ring(const __grid_constant__ Arguments arguments) {
  unsigned const shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  unsigned const group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  unsigned const thread = threadIdx.x % 128;
  schedule::roles::State<Ring> setup(shared, 0, thread);
  schedule::roles::perform<Roles::Setup::Opening>(setup);
  if (group == 0) {
    Producer producer(arguments, shared, 0, thread);
    schedule::roles::run<Roles::Producer>(producer);
  } else {
    Consumer consumer(arguments, shared, group - 1, thread);
    schedule::roles::run<Roles::Consumer>(consumer);
  }
}
"#;

/// Returns the ring of the kernel: 128 rows of A, 64 rows of B, and a depth of 64 per stage.
pub fn ring(stages: u32, multicast: Option<SharedOperand>) -> Pipeline {
    let consumers = 2;
    Pipeline {
        stages,
        stage_bytes: [consumers * 8192, 8192],
        consumers,
        pingpong: false,
        multicast,
        gathered: [false; 2],
        slices: None,
        staging_buffers: 2,
        staging_bytes: 4096,
        vector_bytes: 0,
        source: false,
    }
}

/// Returns the text of the kernel.
pub fn program(ring: &Pipeline, options: &RoleOptions) -> Program {
    let roles = options.roles(ring);
    let cluster = ring
        .multicast
        .map_or(String::new(), |multicast| format!("__cluster_dims__({}, 1, 1)", multicast.blocks));
    let mut source = format!(
        "#include \"layout/index_map.cuh\"\n#include \"schedule/roles.cuh\"\n#include \"threadblock/tma_ring/pipeline.cuh\"\n{}{}#define CLUSTER {cluster}\n#define CONSTANTS {CONSTANTS}\n{KERNEL}",
        ring.header(),
        roles.header()
    );
    let position = RingPosition { stages: ring.stages };
    for (name, print) in [
        ("PipelineLayout", fingerprint(&PipelineLayout(*ring))),
        ("RingPosition", fingerprint(&position)),
    ] {
        source.push_str(&format!(
            "static_assert(index::fingerprint<threadblock::{name}<Ring>>() == {print}u, \"{name}: the Rust map and the CUDA map differ\");\n"
        ));
    }
    source.push_str(&format!(
        "static_assert(Ring::kSharedBytes == {}u && Ring::kStageBytes == {}u, \"the sizes differ\");\n",
        ring.shared_bytes(),
        ring.whole_stage_bytes()
    ));
    Program {
        name: "ring.cu".into(),
        source,
        headers: KERNELS.iter().map(|(name, text)| ((*name).to_owned(), (*text).into())).collect(),
        arch: "sm_90a".into(),
        options: vec!["--std=c++17".into(), "-default-device".into(), "--ptxas-options=-v".into()],
    }
}

/// Compiles the kernel.
pub fn compile(ring: &Pipeline, options: &RoleOptions) -> Compiled {
    let nvrtc = Nvrtc::get().unwrap_or_else(|error| panic!("{error}"));
    nvrtc.compile(&program(ring, options)).unwrap_or_else(|error| panic!("{ring:?}: {error}"))
}

/// Returns the resources that ptxas reports.
pub fn report(compiled: &Compiled) -> Report {
    Report::read(&compiled.log).unwrap_or_else(|| panic!("no kernel in: {}", compiled.log))
}

/// Returns the role options of the kernels.
pub fn options(pending: u8) -> RoleOptions {
    RoleOptions {
        pending,
        promoted_tiles: None,
        fragments: false,
        subtiles: SLICES as u8,
        split_k: false,
        by_threads: false,
        groups_k: false,
        registers: Some([24, 240]),
    }
}
