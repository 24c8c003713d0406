//! The files of `lab/kernels/`, compiled into the library.

use falchion::layout::algebra::LAYOUT_CUH;

/// The files of `lab/kernels/` and their includes, by include name. The other kernels are in
/// [`falchion::internals::codegen::KERNELS`].
pub const KERNELS: &[(&str, &str)] = &[
    ("banks/probe.cuh", include_str!("../kernels/banks/probe.cuh")),
    ("ladder/textbook.cuh", include_str!("../kernels/ladder/textbook.cuh")),
    ("layout.cuh", LAYOUT_CUH),
    ("layout/cute_gemm.cuh", include_str!("../kernels/layout/cute_gemm.cuh")),
];
