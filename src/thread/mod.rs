//! What one thread does: a register outer product.

pub mod mma;
