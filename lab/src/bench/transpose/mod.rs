//! Transposes beside cuBLAS's `geam` and a device-to-device copy of as many bytes, interleaved in
//! one run.

pub mod measure;
pub mod page;
pub mod problem;
pub mod record;

pub use problem::SuiteTranspose;
pub use record::TransposeLine;
