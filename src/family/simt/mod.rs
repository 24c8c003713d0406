//! The room of the family on the CUDA cores whose threads all follow one schedule.

mod axes;
mod check;

pub(super) use axes::{VALUES, along_axes, axis_against};
