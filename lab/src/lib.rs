//! The laboratory of [`falchion`]: what verifies its kernels, measures, explores and draws them.
//!
//! | to | there is |
//! |---|---|
//! | know whether a result is right | [`verify`] |
//! | hold a problem's matrices where types are values | [`owned`] |
//! | know what this machine has | [`resources`] |
//! | know the limits of another GPU | [`gpus`] |
//! | measure against a peer | `bench` (with CUDA) |
//! | generate pages, tables, and pictures of the suites | `pages` (with CUDA) |
//! | search the space of descriptions | [`explore`] |
//! | climb from three loops to the ring of copies | [`ladder`] |
//! | count the bank conflicts of an access or a kernel | [`banks`] |
//! | count what a kernel asks of memory | [`counters`] |
//! | hear why a transpose is computed as it is | [`explain`] |
//! | look at one stage of a warpgroup's product | [`warpgroup`] |
//! | evaluate, draw and run CuTe's layouts | [`layout`] |
#![deny(missing_docs)]

pub mod banks;
#[cfg(feature = "cuda")]
pub mod bench;
pub mod counters;
mod error;
pub mod explain;
pub mod explore;
pub mod gpus;
mod kernels;
pub mod ladder;
pub mod layout;
pub mod owned;
#[cfg(feature = "cuda")]
pub mod pages;
pub mod resources;
mod svg;
#[cfg(feature = "cuda")]
pub mod sys;
#[cfg(feature = "cuda")]
pub mod trials;
pub mod verify;
pub mod warpgroup;

pub use error::Error;
pub use kernels::KERNELS;
