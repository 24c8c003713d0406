//! Where an operand's parts lie in the workspace, and what is known of its rows.

use crate::{
    call::WORKSPACE_ALIGNMENT,
    numeric::{ElementKind, EmulationKind},
    warp::mma_warpgroup::STAGE_BYTES,
};

/// Elements along K to a whole number of which parts are padded: a stage of the product's ring.
pub const DEPTH: u32 = PART.elements_in(STAGE_BYTES);

/// An element of a part: bf16, or f16, which is as wide.
const PART: ElementKind = ElementKind::F16;

/// Bytes of what is known of a row: its facts and its shift, four words.
pub(crate) const LINE_BYTES: u64 = 16;

/// The room of one operand: rows of parts; where rows are scaled, a
/// [`DecomposedLine`](crate::codegen::DecomposedLine) for each, and a word for the first row that
/// is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecomposedLayout {
    /// How f32 is emulated.
    pub emulation: EmulationKind,
    /// Rows of A, or columns of B.
    pub mn: usize,
    /// Length of the dot products.
    pub k: usize,
}

impl DecomposedLayout {
    /// Elements of one part of a row, zeros behind it included.
    pub const fn padded(&self) -> u64 {
        (self.k as u64).div_ceil(DEPTH as u64).saturating_mul(DEPTH as u64)
    }

    /// Elements from one row to the next: all of its parts.
    pub const fn leading(&self) -> u64 {
        self.padded().saturating_mul(self.emulation.parts() as u64)
    }

    /// Where the rows' facts begin, in bytes.
    pub const fn lines_offset(&self) -> u64 {
        whole(PART.matrix_bytes(self.leading().saturating_mul(self.mn as u64)))
    }

    /// Where the word begins, in bytes.
    pub const fn status_offset(&self) -> u64 {
        if !self.emulation.scales() {
            return self.lines_offset();
        }
        self.lines_offset().saturating_add(whole((self.mn as u64).saturating_mul(LINE_BYTES)))
    }

    /// Bytes of all.
    pub const fn bytes(&self) -> u64 {
        self.status_offset().saturating_add(if self.emulation.scales() {
            WORKSPACE_ALIGNMENT
        } else {
            0
        })
    }
}

/// The next multiple of [`WORKSPACE_ALIGNMENT`], or the last number.
const fn whole(bytes: u64) -> u64 {
    match bytes.checked_next_multiple_of(WORKSPACE_ALIGNMENT) {
        Some(whole) => whole,
        None => u64::MAX,
    }
}
