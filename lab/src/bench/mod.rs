//! Measurements relative to a peer. The input is a suite, and the output is JSON lines and a page.
//!
//! One run measures Falchion and cuBLASLt's candidates in interleaved rounds on one stream. Clocks,
//! power, and temperature are therefore the same for all, and no contender always runs after the
//! same other one. [`suite`] reads problems, [`protocol`] times them with a [`Timer`], [`record`]
//! is a JSON line, and [`page`] is the Markdown page.

mod accuracy;
mod data;
pub mod date;
mod epilogue_buffers;
mod gathered_rows;
pub mod kernels;
pub mod measure;
mod order;
pub(crate) mod ours;
pub mod peer;
mod peer_groups;
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
