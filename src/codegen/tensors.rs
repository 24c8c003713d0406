//! Kernel parameters with tensor maps.

use super::GemmParams;

mirrored! {
    /// A tensor map: a [`TensorMapDesc`](crate::threadblock::TensorMapDesc) and an address, as the
    /// driver encodes them for TMA. A `__grid_constant__` parameter passes it by value.
    TensorMap align 64 {
        /// Opaque words of the driver.
        word: [u64; 16],
    }
}

/// Parameters of a kernel with a TMA ring: [`GemmParams`], followed by one tensor map for the boxes
/// of A, the boxes of B, the subtiles of C, and the subtiles of D.
pub struct TensorGemmParams;

impl TensorGemmParams {
    /// Number of tensor maps.
    pub const MAPS: usize = 4;

    /// Offset of the first tensor map in bytes.
    pub const FIRST_MAP: usize = size_of::<GemmParams>().next_multiple_of(align_of::<TensorMap>());

    /// Size in bytes.
    pub const SIZE: usize = Self::FIRST_MAP + Self::MAPS * size_of::<TensorMap>();

    /// Returns the C++ struct, which the declarations of `GemmParams` and `TensorMap` precede.
    pub fn declaration() -> String {
        format!(
            "struct TensorGemmParams : GemmParams {{\n  TensorMap map_a, map_b, map_c, map_d;\n}};\nstatic_assert(sizeof(TensorGemmParams) == {}, \"TensorGemmParams: the sizes in Rust and in CUDA differ\");\n",
            Self::SIZE
        )
    }
}
