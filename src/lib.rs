//! GEMM in Rust the way CUTLASS does it in C++.
#![deny(missing_docs)]

pub mod arch;
#[cfg(feature = "bench-cublaslt")]
pub mod bench;
pub mod desc;
pub mod device;
pub mod epilogue;
mod error;
pub mod index;
pub mod layout;
pub mod mirror;
pub mod numeric;
pub mod refusal;
pub mod schedule;
pub mod sentence;
pub mod shape;
pub mod sys;
pub mod thread;
pub mod threadblock;
pub mod verify;
pub mod warp;

pub use error::Error;
pub use refusal::Refusal;

/// What most programs need.
pub mod prelude {
    pub use crate::{
        arch::{Simt, Sm70, Sm75, Sm80, Sm86, Sm89, Sm90, TensorOp},
        desc::{Auto, GemmDesc, With, WithEpilogueTree, WithStages, WithThreadblock, WithWarp},
        device::{Arguments, Gemm},
        layout::{ColMajor, RowMajor},
        numeric::{Bf16, F16, Tf32},
        shape::{BlocksPerSm, GemmShape, Stages},
        threadblock::{HorizontalSwizzle, IdentitySwizzle, MmaMultistage, MmaPipelined},
    };
}
