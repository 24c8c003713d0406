//! From types and problems to descriptions: the rows of defaults, what completes pins, what a problem chooses.

pub mod default_gemm_configuration;
mod extents;
mod request;
mod resolve;
mod simt;
mod warp_specialized;

pub use request::{Choice, Origin, Request, Resolved};
pub(crate) use resolve::{Completions, resolve};
