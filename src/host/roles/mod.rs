//! Roles on the CPU: a producer and consumers over a ring of stages, in every order that a device may choose.
//!
//! Each warp that has something to do is a machine that performs its role's schedule step by step. A scheduler drawn from a seed
//! picks who moves next; it likes to leave some behind for long. What a device does asynchronously happens between two points:
//!
//! | what | begins | ends |
//! |---|---|---|
//! | a copy writes a stage | `CopyTensor` | when the scheduler lets it land; its bytes are counted then |
//! | an arrival at another block | `Release` | when the scheduler lets it land |
//! | a warp reads A of a stage and writes a set of fragments | `LoadFragments` | its own end |
//! | products read a stage and write accumulators | `MultiplyStage`, `MultiplyPart` | the `AwaitProducts` that covers their group |
//! | a store reads staging | `StoreTensor` | the `AwaitStores` that covers its group |
//!
//! A step that touches what another has begun and not ended is a [`RingFault`]. So are bytes that nobody let in, a stage that is not
//! the wanted tile's, and a wait that never ends. Barriers have the hardware's parity: a wait for a phase that is two ahead passes.
//!
//! What lies in memory are names, [`ShareName`]: which share of which tile. A [`Payload`] may carry numbers along with them. The
//! machine knows no mutants: a wrong map, count or schedule is a changed [`RingProgram`](crate::plan::RingProgram).

mod barrier;
mod fault;
mod flight;
mod fragments;
mod machine;
mod memory;
mod payload;
mod promotion;
mod ring;
mod scheduler;
mod source;
mod steps;
mod threads;
mod tile;
mod warp;

pub use fault::{RingFault, Who};
pub use machine::{Tally, Work, check, run};
pub use payload::{Names, Payload, ShareName, SliceName, WarpName};
