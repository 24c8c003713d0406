//! Epilogues with a gate, which combine the accumulators of two columns of B.

use super::desc::{EpilogueDesc, Op};
use crate::refusal::{Malformed, Refusal};

impl EpilogueDesc {
    /// Returns whether the tree combines the accumulators of two columns, the gate and the value
    /// that it multiplies. B then has two columns per column of D.
    pub const fn is_gated(&self) -> bool {
        let [_, gate, up] = self.accumulators();
        gate || up
    }

    /// Returns the columns of B per column of D: two with a gate, else one.
    #[doc(hidden)]
    pub const fn columns_per_output(&self) -> usize {
        if self.is_gated() { 2 } else { 1 }
    }

    /// Checks that the tree contains both accumulators of a gate or neither, and not another
    /// accumulator or a sum too.
    pub(super) const fn check_gates(&self) -> Result<(), Refusal> {
        match self.accumulators() {
            [true, true, _] | [true, _, true] => Err(Refusal::epilogue(Malformed::GateOfOthers)),
            [_, true, false] | [_, false, true] => Err(Refusal::epilogue(Malformed::HalfOfGate)),
            [_, true, true] if self.has_sums() => Err(Refusal::epilogue(Malformed::SumOfGate)),
            _ => Ok(()),
        }
    }

    /// Returns whether the tree contains the accumulator, the gate, and its partner.
    const fn accumulators(&self) -> [bool; 3] {
        let (ops, mut found, mut i) = (self.ops(), [false; 3], 0);
        while i < ops.len() {
            match ops[i] {
                Op::Accumulator => found[0] = true,
                Op::Gate => found[1] = true,
                Op::Up => found[2] = true,
                _ => {}
            }
            i += 1;
        }
        found
    }
}
