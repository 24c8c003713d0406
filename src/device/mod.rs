//! Whole operations, GEMM and the transpose: their types, their arguments, and what runs them.

mod arguments;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod default_gemm_configuration;
mod executor;
mod extents;
mod gemm;
pub mod host;
mod relay;
mod route;
mod space;
mod split;
pub mod transpose;

pub use arguments::{Arguments, MatrixShape, Shapes, Source};
pub use executor::{Executor, HostMatrices, Orders, run_on_host, run_program, run_warp_specialized};
pub use gemm::Gemm;
pub use relay::{RELAY, Realignment, RelayDesc, RelayFault, RelayMap, RelayProgram, RelayShapes};
pub use route::{Route, Routes, WORKSPACE_ALIGNMENT, Way};
pub use space::{Host, HostSlice, HostSliceMut, Operand, Space, Target};
pub use split::{DEPTH, PIECE, PieceMap, SplitLayout, SplitPass, SplitPassDesc, SplitPassProgram};
pub(crate) use split::{split_fingerprints, split_header};
pub use transpose::{Transpose, TransposeArguments, TransposeDesc, TransposeShapes};
