//! Thread level: outer products and transposes in registers, and global-memory accesses.

pub mod access;
pub mod mma;
pub mod transpose;

pub use mma::{Mma, MmaFma};
