//! The host executor: runs GEMM descriptions on the CPU with the arithmetic of the GPU.
//!
//! A description becomes a [`Program`](crate::threadblock::mma::program::Program), which holds its
//! index maps and its schedule. A warp-specialized description becomes a
//! [`WarpSpecializedProgram`](crate::threadblock::tma_ring::program::WarpSpecializedProgram). Two
//! modes run a program:
//!
//! - **checked** ([`machine`]): runs CTA by CTA or cluster by cluster, and warp by warp, in a
//!   pseudorandom order that a seed determines. Shared memory records each write, its author, and
//!   its order relative to other accesses. A missing barrier, a read of a stale stage, a write that
//!   races with a read, or an access out of bounds returns a [`Fault`](crate::schedule::Fault) with
//!   its coordinate. The data that moves are words and bytes, which are either numbers or names of
//!   matrix elements.
//! - **fast** (`threadblock/`, `warp/`): runs the program once on names instead of numbers. This
//!   run composes all index maps into one table from fragment elements to matrix elements. The fast
//!   mode packs each operand through that table once for all CTAs that read it. It multiplies with
//!   SIMD vectors, in parallel over CTAs (`threadblock/fast.rs`). Each accumulator adds in the same
//!   order as in the checked mode, so the bits are equal.
//!
//! Element types are run-time values here (`operands.rs`). Packing widens rows of elements to the
//! accumulator type, and the epilogue reads and writes whole rows (`epilogue.rs`, `store.rs`). The
//! code is therefore monomorphized only for the accumulator types and for the three compute types
//! of epilogues.

mod array;
mod batch;
mod epilogue;
pub mod machine;
mod operands;
mod parallel;
pub mod progress;
mod run;
mod store;
mod threadblock;
mod transpose;
pub(crate) mod warp;

pub use array::Array;
#[cfg(feature = "cuda")]
pub(crate) use parallel::parallel_map;
pub use run::{HostKernel, Mode, run_on_host};
