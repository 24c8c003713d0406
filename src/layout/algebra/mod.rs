//! CuTe's layout algebra, as values.
//!
//! A [`Layout`] `shape:stride` is a function from coordinates, or from the integers that count them, to offsets. The operations are CuTe's, by
//! name, result and nesting: [`coalesce`](Layout::coalesce), [`compose`](Layout::compose).
//! Integers are 64 bits wide and remember whether a type knows them ([`Int`]). Results nest as
//! CuTe nests those of static operands; where CuTe cannot see that an extent is 1 it has to keep it, and a value can always be seen.
//! What is no layout is a [`LayoutError`] that says which divisibility failed.

mod coalesce;
mod complement;
pub mod compose;
mod coordinate;
mod divide;
mod error;
pub mod expression;
mod int;
mod int_tuple;
mod inverse;
#[allow(clippy::module_inception, reason = "the module is the algebra, the file the value")]
mod layout;
mod map;
mod parse;
mod partition;
mod product;
mod swizzle;
mod tensor;
mod tiler;

pub use coordinate::Coordinate;
pub use error::LayoutError;
pub use int::Int;
pub use int_tuple::IntTuple;
pub use layout::{Layout, Mode};
pub use map::Map;
pub use partition::Step;
pub use swizzle::{Composed, Swizzle};
pub use tensor::{Tensor, copy, gemm};
pub use tiler::Tiler;
