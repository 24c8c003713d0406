//! Checked execution of [`falchion`]'s kernels on the CPU, and mutations of their programs.
//!
//! A kernel's program holds its index maps and its schedule. [`run_checked`] runs the program warp
//! by warp, in a pseudorandom order that a seed determines. Shared memory records each write, its
//! author, and its order relative to other accesses. A missing barrier, a read of a stale stage, a
//! write that races with a read, or an access out of bounds is a
//! [`Fault`](falchion::internals::schedule::Fault) that names its coordinate. Without a fault, D has
//! the bits of Falchion's host executor and of the GPU.
//!
//! | task | item |
//! |---|---|
//! | run a description or a program on the machine | [`run_checked`] |
//! | select the executor at run time | [`run_in_mode`], [`Mode`] |
//! | observe the accesses of a CTA | [`machine::observe`] |
//! | change a map, a step, or a number of a program | [`program`], [`mutation`] |
//! | drop, swap, and weaken every step of a schedule | [`mutation`] |
//!
//! # Example
//!
//! A GEMM whose schedule lacks a barrier has a fault: a thread reads an element of a stage before
//! another thread has written it.
//!
//! ```
//! use falchion::{
//!     internals::{
//!         operand::{HostMatrices, HostSlice, HostSliceMut, Problem, Source},
//!         schedule::{Section, Step},
//!     },
//!     prelude::*,
//! };
//! use falchion_check::{mutation::without_first, run_checked};
//!
//! let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm70>::new();
//! let (desc, (m, n, k)) = (gemm.desc(), (64, 48, 40));
//! let problem = Problem::new(&desc, (m, n, k), [None; 3], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
//! let (a, b, mut d) = (vec![1.0f32; m * k], vec![2.0f32; k * n], vec![0.0f32; m * n]);
//! let mut run = |program: &_| {
//!     let matrices = HostMatrices {
//!         a: HostSlice::new::<f32>(&a),
//!         b: HostSlice::new::<f32>(&b),
//!         c: Source::None,
//!         d: HostSliceMut::new::<f32>(&mut d),
//!         operands: Default::default(),
//!     };
//!     run_checked(program, 1, problem.with(matrices))
//! };
//!
//! let program = desc.one_schedule()?;
//! run(&program)?;
//! let error = run(&without_first(&program, Section::Body, Step::Barrier)).unwrap_err();
//! let falchion::Error::Fault(fault) = error else { panic!("{error}") };
//! assert!(fault.to_string().contains("of shared memory"), "{fault}");
//! # Ok::<(), falchion::Error>(())
//! ```
#![deny(missing_docs)]

mod accumulated;
mod accumulators;
mod gemm;
pub mod machine;
pub mod mutation;
pub mod program;
mod run;
mod tma_ring;
mod transpose;

pub use accumulators::Accumulators;
pub use run::{CheckedKernel, Mode, run_checked, run_in_mode};
