//! CuTe's layout algebra, as values.
//!
//! A [`Layout`] `shape:stride` is a function from coordinates, or from the integers that count
//! them, to offsets. The operations are CuTe's by name, result and nesting:
//! [`coalesce`](Layout::coalesce), [`compose`](Layout::compose),
//! [`complement`](Layout::complement), [`logical_divide`](Layout::logical_divide),
//! [`logical_product`](Layout::logical_product) and their kin,
//! [`left_inverse`](Layout::left_inverse), [`right_inverse`](Layout::right_inverse),
//! [`local_tile`](Layout::local_tile), [`local_partition`](Layout::local_partition); [`Swizzle`]
//! and [`Composed`] for what is no layout, [`Map`] for pictures and bank counts, `FromStr` for
//! text, [`Spelling`] for kernels.
//!
//! Integers are 64 bits wide and remember whether a type knows them ([`Int`]). Results nest as CuTe
//! nests those of static operands; of dynamic ones CuTe keeps modes of extent 1 that it cannot see
//! to be so, and a value can always be seen. What is no layout is a [`LayoutError`] that says which
//! divisibility failed. `book/src/layouts.md` shows each operation at work.
//!
//! The C++ types that layouts are spelled as, for kernels that include it, are [`LAYOUT_CUH`].
#![deny(missing_docs)]

mod coalesce;
mod complement;
#[doc(hidden)]
pub mod compose;
mod coordinate;
mod divide;
mod error;
mod int;
mod int_tuple;
mod inverse;
mod layout;
mod map;
#[doc(hidden)]
pub mod parse;
mod partition;
mod product;
mod spell;
mod swizzle;
mod tiler;

pub use coordinate::Coordinate;
pub use error::LayoutError;
pub use int::Int;
pub use int_tuple::IntTuple;
pub use layout::{Layout, Mode};
pub use map::Map;
pub use partition::Step;
pub use spell::Spelling;
pub use swizzle::{Composed, Swizzle};
pub use tiler::Tiler;

/// The text of `layout.cuh`: a layout as a type, as [`Spelling`] names it, and its function.
pub const LAYOUT_CUH: &str = include_str!("../kernels/layout.cuh");
