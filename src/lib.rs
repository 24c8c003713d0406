//! GEMM in Rust the way CUTLASS does it in C++: `D = epilogue(alpha * A·B, beta * C)`.
//!
//! ```
//! use falchion::prelude::*;
//!
//! // D = A·B, column-major like BLAS.
//! let gemm = Gemm::<f32, ColMajor, f32, ColMajor, f32, ColMajor>::new();
//! let (a, b, mut d) = (vec![1.0f32; 6], vec![2.0f32; 12], vec![0.0f32; 8]);
//! gemm.run(Arguments::new((2, 4, 3), &a, &b, &mut d))?;
//! assert_eq!(d, [6.0; 8]);
//! # Ok::<(), falchion::Error>(())
//! ```
//!
//! # The loop nest
//!
//! A block, a warp and a thread are each a level: a trait here, and a folder of the same name in
//! `kernels/`. Each map is a value and its twin; every knob is a type that becomes a field of one
//! value, [`desc::GemmDesc`]. The value runs on the host and on a device, and gives the same bits
//! on both.
//!
//! | loop | who | Rust | CUDA |
//! |---|---|---|---|
//! | over tiles of D | the grid; persistent clusters | [`threadblock::Work`], [`threadblock::TileOrder`] | `family/*.cuh`, `threadblock/{work,swizzle}.cuh` |
//! | over k-tiles | a block | [`threadblock::Mma`]: [`threadblock::MmaSingleStage`], [`threadblock::MmaPipelined`], [`threadblock::MmaMultistage`], [`threadblock::MmaWarpSpecialized`] over a [`threadblock::Pipeline`] | `threadblock/{mma_*,pipeline}.cuh` |
//! | copying a tile | its threads; TMA | [`threadblock::ThreadMap`], [`threadblock::SmemTile`]; [`threadblock::TensorCopy`] | `threadblock/{thread_map,tensor_copy}.cuh`, `smem.cuh` |
//! | over k of a tile | a warp | [`warp::Mma`]: [`warp::MmaSimt`], [`warp::MmaTensorOp`] | `warp/mma_simt.cuh`, `warp/mma_tensor_op.cuh`, `warp/mma_warpgroup.cuh` |
//! | over i, j of a fragment | a thread | `thread::Mma` | `thread/mma.cuh` |
//! | over accumulators | a thread | [`epilogue`]: [`epilogue::Node`] | `epilogue/{tile_store,tensor_store}.cuh` |
//!
//! [`device::Transpose`] has the same anatomy: types, a value, the host, one kernel.
//!
//! A family of kernels is one room, `src/family/simt/` for one: its knobs' rule book, its rows of
//! defaults, and what it makes of a description, a `plan::Plan`. The levels know no family, but for
//! [`threadblock::WarpSpecialized`], the components of one.
//!
//! What is between the loops: [`schedule::Schedule`], the order of copies, waits and barriers;
//! [`index::IndexMap`], who does what and where it lies; [`refusal::Refusal`], why a configuration
//! is invalid or unsupported; `call`, a problem and how its operands reach a kernel; `pass`, what
//! runs before one (transposes, repacking, decomposing); `codegen` and `facts`, what crosses to
//! C++; `host` and `cuda`, what runs it. The crate `falchion-layout` is the algebra of layouts,
//! `falchion-lab` verifies, measures, explores and draws.
#![deny(missing_docs)]

pub mod arch;
mod call;
mod codegen;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod desc;
pub mod device;
pub mod epilogue;
mod error;
mod facts;
mod family;
mod host;
mod index;
#[doc(hidden)]
pub mod internals;
pub mod layout;
pub mod numeric;
mod operand;
mod pass;
mod plan;
pub mod refusal;
mod schedule;
mod sentence;
pub mod shape;
mod smem;
mod sys;
mod thread;
pub mod threadblock;
pub mod warp;
mod words;

/// The cudarc that Falchion is built with. A program that names its types through this needs no
/// cudarc of its own, which could name another CUDA.
#[cfg(feature = "cuda")]
pub use cudarc;
pub use device::gemm;
pub use error::Error;
pub use numeric::Element;
pub use refusal::Refusal;

/// What most programs need.
pub mod prelude {
    pub use crate::{
        arch::{Simt, Sm70, Sm75, Sm80, Sm86, Sm89, Sm90, TensorOp},
        desc::{
            Auto, BlocksPerSm, ClusterShape, EpilogueTree, GemmDesc, GroupedSwizzle,
            HorizontalSwizzle, IdentitySwizzle, PingpongSchedule, SplitK, SplitKCluster,
            SplitKParallel, Stages, StreamK, Threadblock, Warp, With,
        },
        device::{
            AnySlice, AnySliceMut, Arguments, Gemm, GemmOperation, GemmUniversal, Transpose,
            TransposeArguments,
        },
        layout::{ColMajor, MatrixType, RowMajor},
        numeric::{Bf16, E4m3, E5m2, Element, ElementKind, F16, Tf32},
        shape::GemmShape,
        threadblock::{MmaMultistage, MmaPipelined, MmaSingleStage, MmaWarpSpecialized},
        warp::{MmaSimt, MmaTensorOp},
    };
}

/// The README's program runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
