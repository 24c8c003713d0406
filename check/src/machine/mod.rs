//! One machine for all kernels.
//!
//! Each warp performs the schedule of its role step by step. A seeded scheduler selects the next
//! warp, and delays some warps for a long time on purpose (`scheduler.rs`). A kernel whose threads
//! all follow one schedule has one role (`block.rs`). In each of its steps, the lanes act one by
//! one in a pseudorandom order. `simt.rs` has the steps of GEMMs, and `transpose.rs` those of
//! transposes. Kernels with a producer and consumers over a ring of stages are in `tma_ring/`.
//!
//! Shared memory records the last writer, the readers, and the copies in progress of each cell
//! (`memory.rs`). The waits of warps order accesses: CTA and warpgroup barriers, barriers in shared
//! memory, and groups of copies, of products, and of stores (`sync.rs`). Two accesses without an
//! order are a fault, in whichever order they run. Words and bytes carry the names of tiles and
//! subtiles, so stale data are found by name. The machine contains no mutants: a test for a wrong
//! map, count, or schedule changes the program.

mod block;
mod memory;
mod observer;
mod one_schedule;
mod scheduler;
mod sync;
mod tma_ring;
mod transpose;

pub use observer::{Access, Observer, Purpose, Touched};
pub use one_schedule::observe;
pub(crate) use one_schedule::{Started, run_block};
pub use tma_ring::{Bytes, ClusterWork, Payload, Staged, Tally, run};
pub use transpose::{Tile, run as transpose_tile, whole as whole_pieces};
