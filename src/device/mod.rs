//! Device operators: GEMM and transpose, their arguments, and the executors that run them.

mod chosen;
mod configurations;
mod executor;
mod functions;
mod gemm;
#[cfg(feature = "cuda")]
mod kernel;
mod operation;
#[cfg(feature = "cuda")]
mod prepare;
pub mod transpose;

#[doc(hidden)]
pub use crate::host::run_on_host;
pub use crate::{
    call::{
        Any, AnySlice, AnySliceMut, Arguments, Host, Identity, Mat, MatMut, MatRef, MatrixElements,
        OperandWorkspace, Readable, Space, Writable,
    },
    nest::{Explanation, ProblemSize, Request, Target},
};
pub use executor::Executor;
pub use functions::{gemm, matmul};
pub use gemm::{Gemm, GemmUniversal};
#[cfg(feature = "cuda")]
pub use kernel::Kernel;
pub use operation::GemmOperation;
pub use transpose::Transpose;
