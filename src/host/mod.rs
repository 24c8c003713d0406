//! The CPU, as a GPU small enough to read.
//!
//! A description becomes a [`Program`](crate::plan::Program): its maps and its schedule; one whose warpgroups have roles a [`WarpSpecializedProgram`](crate::plan::WarpSpecializedProgram). Two modes run it:
//!
//! - **checked** (`block.rs`): block by block, thread by thread. Shared memory remembers who wrote what, and when; a missing
//!   barrier, a read of a stale stage, a write that overtakes a read, an access out of bounds is a [`Fault`](crate::schedule::Fault) with its
//!   coordinate. Threads between two barriers run in a random order. What moves are words: numbers, or names of matrix elements.
//! - **fast** (`composition.rs`, `pack.rs`, `microkernel.rs`, `chains.rs`): the same program is run once on names instead of numbers,
//!   which composes all maps into one table, fragment element to matrix element. Operands are packed through that table, once
//!   for all blocks that read them, and multiplied with wide vectors, parallel over blocks (`fast.rs`), each accumulator adding in the
//!   same order as before: the bits are those of the checked mode.
//!
//! Element types are values here (`operands.rs`). Rows of elements are widened to accumulators while they are packed, and the epilogue
//! reads and writes rows (`epilogue.rs`, `store.rs`): code is generated for each of four accumulators and for each of three numbers that
//! epilogues compute in.

mod accumulated;
mod accumulators;
mod block;
mod chains;
mod composition;
mod epilogue;
mod fast;
mod microkernel;
mod operands;
mod pack;
mod parallel;
pub mod roles;
mod run;
mod shared_memory;
mod store;
pub(crate) mod transpose;
mod turn;
mod vectors;
pub(crate) mod warp_specialized;

pub use crate::threadblock::mma::perform;
pub use block::{Block, Onlooker, look_on};
pub use run::Mode;
pub(crate) use run::{composed, execute};
pub use turn::Turn;
