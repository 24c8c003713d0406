//! Transposes: description, validity rules, index maps, program, and kernel source.
//!
//! Twin: `kernels/pass/transpose.cuh`.

mod arguments;
mod call;
mod check;
mod desc;
#[cfg(feature = "serde")]
mod json;
mod launch;
mod maps;
mod program;
mod resolve;
mod spell;

pub use arguments::{Scalable, TransposeArguments};
pub use call::{HostTransposeCall, TransposeCall, TransposeProblem};
pub use desc::{Combine, Lanes, Staging, TransposeDesc};
pub use maps::{GatheredTile, PieceMap};
pub use program::TransposeProgram;
pub use resolve::{Choice, Configuration};
pub use spell::translation_unit;
