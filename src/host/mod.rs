//! The CPU, as a GPU small enough to read.
//!
//! A description becomes a [`Program`](crate::plan::Program): its maps and its schedule; a
//! warp-specialized one a [`WarpSpecializedProgram`](crate::plan::WarpSpecializedProgram). Two
//! modes run it:
//!
//! - **checked** ([`machine`]): block by block or cluster by cluster, warp by warp, in an order
//!   that a seed draws. Shared memory remembers who wrote what, and in which order with whom; a
//!   missing barrier, a read of a stale stage, a write that overtakes a read, an access out of
//!   bounds is a [`Fault`](crate::schedule::Fault) with its coordinate. What moves are words and
//!   bytes: numbers, or names of matrix elements.
//! - **fast** (`composition.rs`, `pack.rs`, `microkernel.rs`, `chains.rs`): the same program is run
//!   once on names instead of numbers, which composes all maps into one table, fragment element to
//!   matrix element. Operands are packed through that table, once for all blocks that read them,
//!   and multiplied with wide vectors, parallel over blocks (`fast.rs`), each accumulator adding in
//!   the same order as before: the bits are those of the checked mode.
//!
//! Element types are values here (`operands.rs`). Rows of elements are widened to accumulators
//! while they are packed, and the epilogue reads and writes rows (`epilogue.rs`, `store.rs`): code
//! is generated for each of four accumulators and for each of three numbers that epilogues compute
//! in.

mod accumulated;
mod accumulators;
mod array;
mod chains;
mod composition;
mod epilogue;
mod fast;
pub mod machine;
mod microkernel;
mod operands;
mod pack;
mod parallel;
pub mod progress;
mod run;
mod store;
mod transpose;
mod units;
mod vectors;
mod warp_specialized;

pub use accumulators::Accumulators;
pub use array::Array;
#[cfg(feature = "cuda")]
pub(crate) use parallel::parallel_map;
pub use run::{HostKernel, Mode, run_on_host};
