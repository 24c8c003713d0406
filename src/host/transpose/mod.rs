//! Transposes on the CPU: the same maps, the same schedule, in the same two modes as products.
//!
//! - **checked** (`block.rs`): tile by tile, thread by thread, through a shared memory that remembers.
//! - **fast** (`fast.rs`): the program is run once on names, which shows that a tile comes out transposed; then all strips of D
//!   are copied side by side, in blocks that stay in the cache.

mod block;
mod element;
mod fast;
mod gather;
mod run;

pub use block::{Tile, TransposeTouch, Watch, run as run_block, whole};
pub(crate) use run::{run, run_changed};
