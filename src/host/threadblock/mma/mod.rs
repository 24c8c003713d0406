//! Host execution of the main loops without a producer.

pub mod composition;
pub(in crate::host) mod fast_program;
pub mod fragments;
mod names;
pub(in crate::host) mod pack;
pub mod vectors;
