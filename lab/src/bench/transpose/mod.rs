//! Transposes relative to cuBLAS's `geam` and to a device-to-device copy of the same number of
//! bytes, interleaved in one run.

pub mod measure;
pub mod page;
pub mod problem;
pub mod record;

pub use problem::SuiteTranspose;
pub use record::TransposeLine;
