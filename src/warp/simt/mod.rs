//! Warp-level MMA on CUDA cores: each thread multiplies its own tile.

mod base;
mod check;
pub(crate) mod explain;
mod kernel;
pub mod maps;
mod registers;

pub use maps::SimtKnobs;
