//! CuTe's layout algebra with layouts as values.
//!
//! A [`Layout`] `shape:stride` is a function from coordinates to offsets. An integer stands for the
//! coordinate that it counts out colexicographically. The operations have the names, the results,
//! and the nesting of CuTe:
//!
//! - [`coalesce`](Layout::coalesce), [`compose`](Layout::compose), and
//!   [`complement`](Layout::complement);
//! - [`logical_divide`](Layout::logical_divide), [`logical_product`](Layout::logical_product), and
//!   their variants;
//! - [`left_inverse`](Layout::left_inverse) and [`right_inverse`](Layout::right_inverse);
//! - [`local_tile`](Layout::local_tile) and [`local_partition`](Layout::local_partition).
//!
//! [`Swizzle`] and [`Composed`] are functions that are not layouts. [`Map`] serves pictures and
//! counts of bank conflicts. `FromStr` reads CuTe's notation, and [`Spelling`] writes C++ types for
//! kernels.
//!
//! Integers have 64 bits, and an [`Int`] records whether its value is static. Results nest as
//! CuTe's results for static operands do. For dynamic operands, CuTe keeps modes of extent 1,
//! because it cannot detect them at compile time; this crate drops them. If a result is not a
//! layout, the [`LayoutError`] states the failed divisibility. `book/src/layouts.md` shows each
//! operation.
//!
//! [`LAYOUT_CUH`] defines the C++ types that [`Spelling`] uses.
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

/// Text of `layout.cuh`, which defines layouts as C++ types for [`Spelling`].
pub const LAYOUT_CUH: &str = include_str!("../kernels/layout.cuh");
