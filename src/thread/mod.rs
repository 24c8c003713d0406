//! What one thread does: a register outer product, a register transpose, an access.

pub mod access;
pub mod mma;
pub mod turn;

pub use mma::{Mma, MmaFma, MmaOuterProduct};
