//! Vectors and scalars of an epilogue in shared memory.
//!
//! A consumer of `wgmma` stages the elements for its part of a tile before the epilogue, converted
//! to the compute type, while its last products run. Its threads then read shared memory without
//! checks of bounds. Loads from global memory in each subtile would wait for memory, and NVRTC
//! would compute few elements at a time between them. A scalar in memory is a vector of one
//! element.
//!
//! ```text
//! byte 0                                                 the vectors, in the order of EpilogueOperand::ALL
//! | rows of the part, or its columns, or 1 | ...         each begins at a multiple of 16 bytes
//! ```
//!
//! Twin: `kernels/epilogue/vectors.cuh`.

use super::desc::EpilogueDesc;
use crate::{
    numeric::ComputeKind,
    shape::{EpilogueOperand, Mn, OperandKind},
};

/// Alignment of a vector in bytes: one access of a thread.
pub(crate) const VECTOR_ALIGNMENT: u32 = 16;

/// Numbers of vectors before a vector: along M, along N, and scalars.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct VectorsBefore([u32; 3]);

impl VectorsBefore {
    /// Returns the kind of a vector or scalar that an epilogue may read. `None` for another
    /// operand.
    const fn kind(operand: EpilogueOperand) -> Option<usize> {
        match operand.side() {
            _ if operand.is_reduction() => None,
            Some(OperandKind::A) => Some(0),
            Some(OperandKind::B) => Some(1),
            None if operand.is_scalar() => Some(2),
            None => None,
        }
    }

    /// Adds an operand. Returns whether it is a vector or a scalar.
    pub const fn add(&mut self, operand: EpilogueOperand) -> bool {
        match Self::kind(operand) {
            Some(kind) => {
                self.0[kind] += 1;
                true
            }
            None => false,
        }
    }

    /// Returns the three numbers as C++ arguments.
    pub fn arguments(self) -> String {
        self.0.map(|number| number.to_string()).join(", ")
    }
}

impl EpilogueDesc {
    /// Returns the size in bytes of the vectors and scalars that the tree reads, for a part of D
    /// with `m` rows and `n` columns.
    pub(crate) const fn vector_bytes(&self, compute: ComputeKind, Mn { m, n }: Mn) -> u32 {
        let (mut before, mut i) = (VectorsBefore([0; 3]), 0);
        while i < EpilogueOperand::COUNT {
            if self.has(EpilogueOperand::ALL[i]) {
                before.add(EpilogueOperand::ALL[i]);
            }
            i += 1;
        }
        let (lengths, mut bytes, mut kind) = ([m, n, 1], 0u32, 0);
        while kind < lengths.len() {
            let each = compute.element().bytes_of(lengths[kind]).next_multiple_of(VECTOR_ALIGNMENT);
            bytes = bytes.saturating_add(before.0[kind].saturating_mul(each));
            kind += 1;
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors and scalars that are read take their elements, in multiples of 16 bytes. Matrices
    /// and results take nothing.
    #[test]
    fn bytes_of_vectors() {
        let bytes = |text: &str, compute| {
            let desc: EpilogueDesc = text.parse().expect("an epilogue");
            desc.vector_bytes(compute, Mn { m: 64, n: 10 })
        };
        for (text, wanted) in [
            ("acc", 0),
            ("col_sum(row_amax(acc + c * aux1))", 0),
            ("acc + bias_n", 48),
            ("acc * scale_m + bias_n", 256 + 48),
            ("alpha_ptr:f32 * (acc + bias_n + bias_n)", 48 + 16),
        ] {
            assert_eq!(bytes(text, ComputeKind::F32), wanted, "{text}");
        }
        assert_eq!(bytes("acc + bias_n", ComputeKind::F64), 80);
    }
}
