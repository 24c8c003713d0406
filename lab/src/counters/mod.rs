//! Memory accesses of GEMMs and transposes. The counts come from accesses of the checked machine,
//! not from formulas.

mod accesses;
mod product;
mod transpose;
mod watched;

pub use accesses::{GlobalAccesses, SharedAccesses};
pub use product::{Counters, count};
pub use transpose::{TransposeCounters, count_transpose};

pub use falchion_check::machine::Purpose;
pub(crate) use watched::walk_block;

use accesses::Gathered;
