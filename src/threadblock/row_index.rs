//! The C++ facts of index lists, which select the lines of A, B, or D that a kernel accesses. A
//! line is a row of A, a column of B, or a row or column of D.
//!
//! A thread loads the indices of its lines once, before its main loop. A line whose index is beyond
//! the matrix has no elements: it is read as zeros, and is not stored.
//!
//! Twin: `kernels/threadblock/row_index.cuh`.

use crate::{nest::GemmDesc, shape::Axis, threadblock::StagedOperand};

/// Returns the C++ value of the axis of D whose lines an index list selects.
pub(crate) fn scatter(desc: &GemmDesc) -> String {
    format!("threadblock::Scatter::{}", desc.output.indexed.map_or("None", Axis::name))
}

impl StagedOperand {
    /// Returns the lines of the operand that a thread copies of each tile.
    pub(crate) const fn lines_of_thread(&self) -> u32 {
        let map = self.thread_map();
        if self.k_contiguous { map.steps_strided() } else { map.steps_contiguous() }
    }

    /// Returns the registers for the indices of a thread's lines.
    pub(crate) const fn index_registers(&self) -> u32 {
        // One register per line, and two for the address of the first element along K. Lines of the
        // matrices of a gate have offsets of two registers.
        let lines = self.lines_of_thread();
        if self.gated {
            lines.saturating_mul(2).saturating_add(2)
        } else if self.indexed {
            lines.saturating_add(2)
        } else {
            0
        }
    }

    /// Returns the registers for the addresses of a thread's accesses, if each access reads one
    /// element of an indexed line that is not contiguous along K.
    ///
    /// Such accesses have no common offsets, so each one has an address of two registers. A thread
    /// with few accesses computes their addresses again for each tile.
    pub(crate) const fn index_address_registers(&self) -> u32 {
        let accesses = self.thread_map().accesses();
        if self.indexed && !self.k_contiguous && accesses >= Self::KEPT_ADDRESSES {
            accesses.saturating_mul(2)
        } else {
            0
        }
    }

    /// Minimum number of accesses per thread whose addresses stay in registers. Smaller tiles of
    /// `indexed_lines_that_are_contiguous_compile_clean` do not spill.
    const KEPT_ADDRESSES: u32 = 16;
}
