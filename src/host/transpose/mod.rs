//! Transposes on the CPU: the same maps, the same schedule, in the same two modes as products.
//!
//! - **checked**: tile by tile on the machine of [`machine`](super::machine).
//! - **fast** (`fast.rs`): the program is run once on names, which shows that a tile comes out
//!   transposed; then all strips of D are copied side by side, in blocks that stay in the cache.

mod element;
mod fast;
mod run;
