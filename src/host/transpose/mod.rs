//! Transposes on the CPU. They use the maps and the schedule of the kernel, in the same two modes
//! as GEMMs.
//!
//! - **checked**: runs tile by tile on the machine of [`machine`](super::machine).
//! - **fast** (`fast.rs`): runs the program once on names, which verifies that it transposes a
//!   tile. It then copies all strips of D in parallel, in blocks that fit into the cache.

mod element;
mod fast;
mod run;
