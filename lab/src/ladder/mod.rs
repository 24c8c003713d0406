//! The ladder: the steps from a GEMM of three loops to the multistage main loop.
//!
//! Two rungs are separate kernels, [`Textbook`]: one shares nothing between threads, and the other
//! shares only memory. All other rungs are descriptions of the one parameterized kernel, so each
//! rung adds a knob. Wrong turns are also rungs, and each shows its loss.

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
