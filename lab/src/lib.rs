//! The lab of [`falchion`]: verification, measurement, exploration, and pictures of its kernels.
//!
//! | task | module |
//! |---|---|
//! | verify a result | [`verify`] |
//! | own a problem's matrices if element types are run-time values | [`owned`] |
//! | query the resources of this machine | [`resources`] |
//! | look up the limits of another GPU | [`gpus`] |
//! | measure against a peer | `bench` (with CUDA) |
//! | generate pages, tables, and pictures of the suites | `pages` (with CUDA) |
//! | search the space of descriptions | [`explore`] |
//! | climb from three loops to the multistage main loop | [`ladder`] |
//! | count the bank conflicts of an access or a kernel | [`banks`] |
//! | count the memory accesses of a kernel | [`counters`] |
//! | explain the selection of a kernel | [`explain`] |
//! | print the threads of a warpgroup that hold a matrix | [`warpgroup`] |
//! | evaluate, draw, and run CuTe layouts | [`layout`] |
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
pub mod verify;
pub mod warpgroup;

pub use error::Error;
pub use kernels::KERNELS;
