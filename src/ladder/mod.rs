//! The ladder: how a product climbs from three loops to the ring of asynchronous copies.
//!
//! Two rungs are kernels of their own, [`Textbook`]: nothing is shared in them, or nothing but memory. All others are
//! descriptions of the one parameterized kernel, so what a rung adds is a knob. Wrong turns are rungs, too: each shows what it
//! loses.

mod rungs;
mod textbook;

pub use rungs::{Program, Rung, rungs};
pub use textbook::Textbook;
