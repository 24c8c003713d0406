//! The host executor: runs GEMM descriptions on the CPU with the arithmetic of the GPU.
//!
//! A description becomes a [`Program`](crate::threadblock::mma::program::Program), which holds its
//! index maps and its schedule. A warp-specialized kernel has the same order of additions for each
//! accumulator, so its descriptions need no program here (`threadblock/tma_ring/`).
//!
//! The executor evaluates the index maps of a program once on names instead of numbers. This
//! composes all maps into one table from fragment elements to matrix elements. The executor packs
//! each operand through that table once for all CTAs that read it. It multiplies with SIMD vectors,
//! in parallel over CTAs (`threadblock/fast.rs`). Each accumulator adds in the order of the GPU, so
//! the bits are equal.
//!
//! The crate `falchion-check` runs programs warp by warp, and finds races and wrong schedules.
//!
//! Element types are run-time values here (`operands.rs`). Packing widens rows of elements to the
//! accumulator type, and the epilogue reads and writes whole rows (`epilogue.rs`, `store.rs`). The
//! code is therefore monomorphized only for the accumulator types and for the three compute types
//! of epilogues.

mod array;
mod batch;
mod epilogue;
mod gates;
mod groups;
mod indexed;
mod operands;
mod parallel;
pub mod progress;
mod run;
mod store;
mod sums;
mod threadblock;
mod transpose;
mod warp;

pub use array::Array;
#[cfg(feature = "cuda")]
pub(crate) use parallel::parallel_map;
pub use run::{HostKernel, run_on_host};

/// The parts of the executor that the checked machine shares.
pub mod shared {
    pub use super::{
        array::{matrix_of, product_of},
        epilogue::finished,
        operands::{Matrix, Operands, Product, Tiling, unknown},
        run::{each_launch, has_roles, in_frame_of, tiling, work},
        store::Blocks,
        threadblock::{
            mma::{composition::stored_once, fragments::Fragments, vectors},
            tma_ring,
            units::units_once,
        },
        transpose::element::combined,
        warp::emulation,
    };
}
