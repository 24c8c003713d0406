//! Device operators: GEMM and transpose, their arguments, and the executors that run them.

mod any;
mod arguments;
mod array;
mod chosen;
mod configurations;
#[cfg(feature = "cuda")]
mod cuda;
mod epilogue_memory;
mod error;
mod executor;
mod functions;
mod gates;
mod gemm;
mod geometry;
mod group_offsets;
mod identity;
mod indices;
#[doc(hidden)]
pub mod internals;
#[cfg(feature = "cuda")]
mod kernel;
mod matrix;
mod number_list;
mod of_views;
mod operand_view;
mod operation;
mod owned;
#[cfg(feature = "cuda")]
mod prepare;
mod space;
pub mod transpose;
#[cfg(feature = "cuda")]
mod user_functions;
mod workspace;

#[doc(hidden)]
pub use crate::host::run_on_host;
pub use crate::nest::{Explanation, ProblemSize, Request, Target};
pub use any::{Any, AnySlice, AnySliceMut};
pub use arguments::Arguments;
#[doc(hidden)]
pub(crate) use epilogue_memory::EpilogueMemory;
pub use error::{Error, ErrorKind};
pub use executor::Executor;
pub use functions::{gemm, matmul};
pub use gemm::{Gemm, GemmUniversal};
pub(crate) use geometry::ViewGeometry;
pub(crate) use group_offsets::Offsets;
pub use identity::Identity;
#[cfg(feature = "cuda")]
pub use kernel::Kernel;
pub use matrix::{MatMut, MatRef};
pub(crate) use number_list::NumberList;
pub(crate) use operand_view::{OperandView, Placement};
pub use operation::GemmOperation;
pub use owned::Mat;
#[cfg(feature = "cuda")]
pub(crate) use space::operand_memory;
pub(crate) use space::{EpilogueInput, EpilogueOutput, OperandA, OperandB, OperandC, OperandD};
pub use space::{Host, MatrixElements, Readable, Space, Writable};
pub use transpose::Transpose;
pub use workspace::OperandWorkspace;
pub(crate) use workspace::WorkspaceMemory;
