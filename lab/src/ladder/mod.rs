//! The ladder: how a product climbs from three loops to the ring of asynchronous copies.
//!
//! Two rungs are kernels of their own, [`Textbook`]: nothing is shared in them, or nothing but
//! memory. All others are descriptions of the one parameterized kernel, so what a rung adds is a
//! knob. Wrong turns are rungs, too: each shows what it loses.

mod chart;
mod climb;
#[cfg(feature = "cuda")]
pub mod measure;
mod prediction;
mod rungs;
mod textbook;
mod traffic;
mod transpose;
mod transpose_rungs;
mod verify;

pub use climb::{Climb, Measured, Reached};
pub use prediction::Machine;
pub use rungs::{Program, Rung, rungs};
pub use textbook::Textbook;
pub use traffic::{SIZE_MOST, SIZE_STEP, check_size, traffic};
pub use transpose::{TransposeClimb, TransposeMeasured, TransposeReached, verify_transpose};
pub use transpose_rungs::TransposeRung;
pub use verify::verify;
