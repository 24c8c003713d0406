//! The files of `lab/kernels/`, for a library that is one file.

use falchion::layout::algebra::LAYOUT_CUH;

/// The files of `lab/kernels/`, and what one of them includes, by the name under which they are
/// included; [`falchion::internals::codegen::KERNELS`] are the others.
pub const KERNELS: &[(&str, &str)] = &[
    ("banks/probe.cuh", include_str!("../kernels/banks/probe.cuh")),
    ("ladder/textbook.cuh", include_str!("../kernels/ladder/textbook.cuh")),
    ("layout.cuh", LAYOUT_CUH),
    ("layout/cute_gemm.cuh", include_str!("../kernels/layout/cute_gemm.cuh")),
];
