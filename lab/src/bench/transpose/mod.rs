//! Transposes relative to cuBLAS's `geam` and to a device-to-device copy of the same number of
//! bytes, interleaved in one run.

pub mod measure;
pub mod page;
mod record;
pub mod suite;

pub use record::Traffic;
pub use suite::SuiteTranspose;
