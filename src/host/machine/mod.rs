//! The checked mode: one machine for kernels of every family.
//!
//! Warps are what moves. Each performs the schedule of its role step by step; a scheduler drawn
//! from a seed picks who moves next, and likes to leave some behind for long (`scheduler.rs`). A
//! kernel whose threads all follow one schedule is the case of one role (`block.rs`), whose steps
//! lanes perform one after the other, in a drawn order: of products (`simt.rs`), of transposes
//! (`transpose.rs`). Kernels of a producer and consumers over a ring of stages are in `ring/`.
//!
//! Shared memory remembers who wrote what, who has read it, and what is still under way
//! (`memory.rs`). What orders two accesses is known from what warps wait for: meetings, barriers in
//! shared memory, groups of copies, of products and of stores (`sync.rs`). Accesses that nothing
//! orders are a fault in whichever order they happen to come. Words and bytes carry names, of tiles
//! and of subtiles: what is stale is found by its name. The machine knows no mutants: a wrong map,
//! count or schedule is a changed program.

mod block;
mod memory;
mod observer;
mod ring;
mod scheduler;
mod simt;
mod sync;
mod transpose;

pub use observer::{Access, Observer, Purpose, Touched};
pub use ring::{Bytes, ClusterWork, Payload, Staged, Tally, check, run};
pub use simt::observe;
pub(super) use simt::{Started, run_block};
pub use transpose::{Tile, run as transpose_tile, whole as whole_pieces};
