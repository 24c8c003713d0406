//! The room of the warp-specialized family: a producer warpgroup feeds consumers by TMA.

mod axes;
mod check;

pub(super) use axes::{VALUES, along_axes, axis_against};
