//! The measurement against a peer: suites in, interleaved rounds, JSON lines and a page out.
//!
//! One run measures ours and cuBLASLt's candidates beside each other on one stream, so that clocks,
//! power and temperature are the same for all, and nobody always runs after the same one. [`suite`]
//! reads problems, [`protocol`] times them through a [`Timer`], [`record`] is the line that is
//! kept, [`page`] is what is read.

mod accuracy;
mod data;
pub mod date;
pub mod kernels;
pub mod measure;
mod order;
pub(crate) mod ours;
pub mod peer;
mod peer_launches;
pub mod protocol;
pub mod record;
pub mod rounds;
pub mod selection;
pub mod statistics;
pub mod suite;
pub mod timer;
pub mod transpose;

pub mod page;

pub use data::Data;
pub use protocol::{Outcome, Session, Settings};
pub use record::Line;
pub use rounds::{Rounds, Stats};
pub use suite::SuiteProblem;
pub use timer::{EventTimer, Launch, Stretch, Timer};
