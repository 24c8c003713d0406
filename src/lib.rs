//! GEMM in Rust with CUTLASS's hierarchy: `D = epilogue(alpha * A * B, beta * C)`.
//!
//! Each level of the loop nest below the device is a trait, and each knob is a type. A
//! configuration becomes one CUDA kernel, which NVRTC compiles at run time for the GPU at hand. The
//! CPU runs the same configuration and returns the same bits. Builds and tests need neither nvcc
//! nor a GPU.
//!
//! ```
//! use falchion::prelude::*;
//!
//! // D = A * B, packed and row-major: A is 2 x 3, B is 3 x 4, and D is 2 x 4.
//! let (a, b, mut d) = (vec![1.0f32; 6], vec![2.0f32; 12], vec![0.0f32; 8]);
//! let (x, y) = (MatRef::new(&a, (2, 3)), MatRef::new(&b, (3, 4)));
//! falchion::gemm(x, y, MatMut::new(&mut d, (2, 4)))?;
//! assert_eq!(d, [6.0; 8]);
//!
//! // D = relu(A * B + bias), with a fused epilogue.
//! use falchion::epilogue::{Acc, Add, BiasN, Relu};
//! let gemm = Gemm::<f32>::new();
//! let bias = [-7.0f32, 0.0, 1.0, 2.0];
//! let arguments = Arguments::new((2, 4, 3), &a, &b, &mut d).bias_n(&bias);
//! gemm.epilogue::<Relu<Add<Acc, BiasN>>>().run(arguments)?;
//! assert_eq!(d, [0.0, 6.0, 7.0, 8.0, 0.0, 6.0, 7.0, 8.0]);
//! # Ok::<(), falchion::Error>(())
//! ```
//!
//! Host slices run on the CPU. `CudaSlice`s of the re-exported `cudarc` run on their GPU, on the
//! stream of D.
//!
//! # Which operator to use
//!
//! | you have | use |
//! |---|---|
//! | packed row-major slices | [`gemm()`] |
//! | element types known at compile time | [`device::Gemm`], for any GPU or for a named one |
//! | element types known only at run time | [`device::GemmOperation`] |
//! | a matrix to transpose | [`device::Transpose`] |
//!
//! [`device::Arguments`] holds the operands, scalars, strides, batches, and groups of a call. A
//! [`Refusal`] explains why a call or a configuration is invalid. Generic code needs one bound:
//! [`Element`].
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `cuda-13000` | yes | the CUDA executor with the interface of CUDA 13.0 |
//! | `cuda-12000` to `cuda-13040` | no | the CUDA executor with another version; enable exactly one of these features |
//! | `serde` | no | descriptions as JSON: `GemmDesc::to_json` and `GemmDesc::from_json` |
//! | `tracing` | no | a span around each compilation |
//!
//! The build needs no CUDA toolkit. At run time, the CUDA executor loads `libcuda` and `libnvrtc`.
//! Without default features, the crate runs on the CPU only.
//!
//! # The loop nest
//!
//! | level | loop | in `src` | in `kernels` |
//! |---|---|---|---|
//! | [`device`] | problems: batches, groups, arrays | [`device::Gemm`] and the other operators | |
//! | [`threadblock`] | tiles of D, in the order of the swizzle; k-tiles of one tile | `threadblock/{single_stage,pipelined,multistage,tma_ring}`, `threadblock/{work,smem}.rs` | `threadblock` |
//! | [`warp`] | k-blocks of a k-tile; instructions of a k-block | `warp/{simt,mma_sync,wgmma}`; the fragments and rows that threads hold, in `warp/*.rs` | `warp`, with `Group`, the fragments of a k-block |
//! | `thread` | multiply-adds of one thread | `thread/mma.rs` | `thread` |
//! | [`epilogue`](mod@epilogue) | accumulators of one thread | `epilogue/{tile_store,tensor_store}`, one [`epilogue::Node`] per operation | `epilogue` |
//!
//! Every knob of every level is a field of one value, [`nest::GemmDesc`]. The value is checked at
//! compile time, lowered to CUDA source, and executed on the CPU. The folders of MMAs, and the
//! folders `tma_ring`, use the same file names: `check` (rules), `complete` (values of free knobs),
//! `defaults` (rows of the default table), `registers`, `cost`, and `cuda` (facts for the kernel).
//!
//! # Around the loop nest
//!
//! | module | contents |
//! |---|---|
//! | [`nest`] | `GemmDesc` and its JSON; knobs as pins and as leaves (types); `Request` and `resolve`, from pins to a description; the cost model in cycles, and `choose` |
//! | `operand` | a call in memory: sizes, matrices, batches, groups; its checks, its work, and its routes (with or without a pass); the passes `transpose`, `repack`, `decompose`, and `records`, with their kernels |
//! | `schedule` | the kinds of steps, and their sections; the roles of a TMA ring; `Fault`, the error of the checked machine. Each main loop lists its own steps |
//! | [`numeric`] | element types and rounding; the sums of tensor cores and emulated f32, as the CPU computes them |
//! | [`layout`] | orders of matrices and their words; the trait `IndexMap`. Each map is at the level that uses it |
//! | [`shape`], [`arch`] | tile shapes, axes, and operands; architectures and machines |
//! | [`refusal`] | the errors of descriptions and calls, with their words and fields; the functions by which `check` states rules |
//! | `codegen` | the embedded CUDA files, the generated header of a kernel (`Config` and `Facts`), the fingerprints of maps that NVRTC compares, and the parameter structs |
//! | `host` | the CPU executor: composes the maps of a kernel, packs panels, and multiplies them. `numeric` has the sums of tensor cores |
//! | `cuda`, `sys` | the device executor: NVRTC, the cache, and launches; all `unsafe` code |
//!
//! | term | meaning | place |
//! |---|---|---|
//! | class | element types, orders, and units of a GEMM, without knobs | `nest` |
//! | tensor map | description of a matrix for TMA, and of the boxes that TMA copies | `threadblock/{tensor_map,tma_ring}` |
//! | partials, slot, sender | sums of a split-K slice, and their place in a workspace or in the shared memory of a cluster | `threadblock/{partials.rs,tma_ring}`, `epilogue/partials.rs` |
//! | records, positions | addresses of the matrices of a pointer array, which kernels read | `threadblock/{records,positions}.rs` |
//! | `MmaSimt`, `MmaMultistage`, .. | types that write a loop nest, as in CUTLASS | `warp/mod.rs`, `threadblock/mma` |
//! | staging | D's tile in shared memory before TMA or vectors store it | `epilogue/tensor_store` |
//!
//! Unit tests are in the tested file, or in `*_tests.rs` of the same folder; the resolver's cases
//! are in `nest/random_kernels` and `nest/resolve_requests.rs`. `tests/laws` checks descriptions,
//! refusals, and the rules of this repository. `tests/{host,nvrtc,gpu}` run kernels.
//!
//! `falchion-layout` is CuTe's layout algebra. `falchion-check` finds races and wrong schedules of
//! kernels on the CPU. `falchion-lab` measures and explains:
//!
//! | folder of `lab/src` | contents |
//! |---|---|
//! | `verify` | operand data, the reference product, and error bounds |
//! | `bench` | suites, peers, and the protocol of measurements; `pages` writes the pages |
//! | `ladder` | one GEMM in steps (rungs), from three loops to the multistage main loop |
//! | `explore` | the space of kernels, trials, and logs |
//! | `explain` | the facts, the schedule, and the layouts of a kernel |
//! | `banks` | the shared-memory accesses of warps, and their bank conflicts |
//! | `counters` | the accesses to shared and global memory |
//! | `owned`, `sys` | matrices whose types are values; cuBLASLt, launches, and timers |
//! | `layout` | expressions of layouts, and a GEMM whose loops and copies are layouts, with its kernel in `lab/kernels/layout` |
//!
//! `lab/tests` tests the lab, and `cli` is its command line.
#![deny(missing_docs)]

pub mod arch;
mod codegen;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod device;
pub mod epilogue;
mod host;
pub mod layout;
pub mod nest;
pub mod numeric;
mod operand;
pub mod refusal;
mod schedule;
pub mod shape;
mod sys;
mod thread;
pub mod threadblock;
pub mod warp;

/// The version of cudarc that Falchion uses. A program that imports `falchion::cudarc` cannot mix
/// two versions of CUDA.
#[cfg(feature = "cuda")]
pub use cudarc;
#[doc(hidden)]
pub use device::internals;
pub use device::{Error, ErrorKind, gemm, matmul};
pub use numeric::Element;
pub use refusal::Refusal;

/// The names that most programs need.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::numeric::{Bf16, E4m3, E5m2, F16, Tf32};
    pub use crate::{
        arch::{Best, Native, Simt, Sm70, Sm75, Sm80, Sm86, Sm89, Sm90, TensorOp},
        device::{
            AnySlice, AnySliceMut, Arguments, Gemm, GemmOperation, GemmUniversal, Mat, MatMut,
            MatRef, Transpose,
        },
        layout::{ColMajor, MatrixType, RowMajor},
        nest::{
            Auto, BlocksPerSm, ClusterShape, EpilogueTree, GemmDesc, GroupedSwizzle,
            HorizontalSwizzle, IdentitySwizzle, PingpongSchedule, SplitK, SplitKCluster,
            SplitKParallel, Stages, StreamK, Threadblock, Warp, With,
        },
        numeric::{Element, ElementKind},
        shape::GemmShape,
        threadblock::{MmaMultistage, MmaPipelined, MmaSingleStage, MmaWarpSpecialized},
        warp::{MmaSimt, MmaTensorOp},
    };
}

/// Programs of the README and of the start pages of the book. All programs compile, and the CPU
/// programs also run.
#[cfg(all(doctest, feature = "cuda"))]
mod programs {
    #[doc = include_str!("../README.md")]
    pub struct Readme;
    #[doc = include_str!("../book/src/cpu.md")]
    pub struct Cpu;
    #[doc = include_str!("../book/src/gpu.md")]
    pub struct Gpu;
    #[doc = include_str!("../book/src/epilogues.md")]
    pub struct Epilogues;
    #[doc = include_str!("../book/src/gates.md")]
    pub struct Gates;
    #[doc = include_str!("../book/src/transforms.md")]
    pub struct Transforms;
    #[doc = include_str!("../book/src/grouped.md")]
    pub struct Grouped;
    #[doc = include_str!("../book/src/gather.md")]
    pub struct Gather;
}
