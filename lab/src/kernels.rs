//! The files of `lab/kernels/`, for a library that is one file.

/// The files of `lab/kernels/`, by the name under which they are included; [`falchion::internals::codegen::KERNELS`] are the others.
pub const KERNELS: &[(&str, &str)] = &[
    ("banks/probe.cuh", include_str!("../kernels/banks/probe.cuh")),
    ("ladder/textbook.cuh", include_str!("../kernels/ladder/textbook.cuh")),
    ("layout/cute_gemm.cuh", include_str!("../kernels/layout/cute_gemm.cuh")),
];
