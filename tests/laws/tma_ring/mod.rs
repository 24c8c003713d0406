//! Laws of the TMA ring.

pub mod l2_promotion;
mod mma_sync;
pub mod refusals;
mod wgmma;
