//! Fast mode of the main loops without a producer.

pub(in crate::host) mod composition;
pub(in crate::host) mod fast_program;
pub(in crate::host) mod fragments;
mod names;
pub(in crate::host) mod pack;
pub(in crate::host) mod vectors;
