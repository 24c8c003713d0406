//! Exploration: the space of valid descriptions, its census, and trials of a random sample.
//!
//! A [`Space`] has a few [`Subspace`]s. A subspace has a list of values for every knob, and
//! contains the Cartesian product of these lists. A [`Census`] runs
//! [`GemmDesc::check`](falchion::nest::GemmDesc::check) on every point, and counts the refusals by
//! message. A [`sample`] is random, without replacement. `trials` compiles, verifies, screens, and
//! measures it on a device. `log` stores every trial, so that an interrupted run can continue.
//!
//! ```
//! use falchion::{arch::ArchKind, internals::nest::Request};
//! use falchion_lab::explore::{Census, Space};
//!
//! let base = Request::default().resolve(ArchKind::Sm80)?.desc;
//! let mut space = Space::from_description(&base);
//! space.set("threadblock", &["128x128x8", "100x128x8"])?;
//! space.set("stages", &["2", "3", "4"])?;
//! let census = Census::new(&space, &|desc| Ok(desc.check()?))?;
//! assert_eq!((census.points, census.legal.len()), (6, 3));
//! assert_eq!(census.refused[0].form, "threadblock M = # is not a multiple of # (warp tiles)");
//! assert_eq!(census.refused[0].count, 3);
//! # Ok::<(), falchion_lab::Error>(())
//! ```

mod census;
mod defaults;
mod json;
mod sampling;
mod space;

#[cfg(feature = "cuda")]
pub mod device;
pub mod log;
mod pinned;
mod range;
pub mod record;
pub mod standing;
#[cfg(feature = "cuda")]
pub mod trials;

pub use census::{Census, Refused};
pub use sampling::sample;
pub use space::{Space, Subspace};
