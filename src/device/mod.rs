//! A whole GEMM: its types, its arguments, and what runs it.

pub mod arguments;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod default_gemm_configuration;
mod executor;
mod gemm;
pub mod host;
mod matrix;
mod product;
mod space;

pub use arguments::{Arguments, MatrixShape, Shapes, Source};
pub use executor::{Executor, HostMatrices, Orders, run_on_host, run_program};
pub use gemm::Gemm;
pub use matrix::HostMatrix;
pub use product::HostProduct;
pub use space::{Host, HostSlice, HostSliceMut, Operand, Space, Target};
