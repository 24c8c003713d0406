//! Transposes: description, validity rules, index maps, program, and kernel source.
//!
//! Twin: `kernels/operand/transpose.cuh`.

mod call;
mod check;
mod desc;
mod launch;
mod maps;
mod problem;
mod program;
mod resolve;
mod spell;

pub use desc::{Combine, Lanes, Staging, TransposeDesc};
pub use maps::{GatheredTile, PieceMap};
pub use program::TransposeProgram;
pub use resolve::{Choice, Configuration};
pub use spell::translation_unit;
