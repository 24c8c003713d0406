//! Problems that own their matrices and whose element types are run-time values. Command lines,
//! explorers, and tests use them.

mod matrix;
mod product;
#[cfg(feature = "cuda")]
pub mod resident;
#[cfg(feature = "cuda")]
mod resident_array;

pub use matrix::HostMatrix;
pub use product::HostProduct;
#[cfg(feature = "cuda")]
pub use resident_array::ResidentArray;

use falchion::{numeric::ElementKind, refusal::Refusal};

/// Checks that there is memory for matrices of these sizes.
fn room(matrices: impl Iterator<Item = (ElementKind, u128)>) -> Result<(), Refusal> {
    let bytes = |(kind, elements): (ElementKind, u128)| {
        elements.saturating_mul(u128::from(kind.bytes_of(1)))
    };
    let needed =
        u64::try_from(matrices.map(bytes).fold(0, u128::saturating_add)).unwrap_or(u64::MAX);
    crate::resources::room_for(needed)
}
