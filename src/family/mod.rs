//! From types and problems to descriptions: the rows of defaults, what completes a request, what a problem chooses.

pub mod default_gemm_configuration;
mod extents;
mod request;

pub use request::{Choice, Origin, Request, Resolved};
