//! Problems that own their matrices, element types being values: what command lines, explorers and tests run.

mod matrix;
mod product;
#[cfg(feature = "cuda")]
pub mod resident;
mod transpose;

pub use matrix::HostMatrix;
pub use product::HostProduct;
pub use transpose::HostTranspose;
