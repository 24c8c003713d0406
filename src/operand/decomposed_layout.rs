//! Workspace layout of an operand that is decomposed into terms of 16 bits.

use crate::{
    numeric::{ElementKind, EmulationKind},
    operand::WORKSPACE_ALIGNMENT,
    warp::warpgroup::STAGE_BYTES,
};

/// Padding unit of K in elements: the depth of a pipeline stage.
pub const DEPTH: u32 = TERM.elements_in(STAGE_BYTES);

/// Element type of a term. bf16 and f16 have the same size.
const TERM: ElementKind = ElementKind::F16;

/// Bytes of the record of a row: its properties and its shift, in four words.
pub(crate) const LINE_BYTES: u64 = 16;

/// Workspace layout of one decomposed operand. The terms of all rows come first. If the emulation
/// scales rows, one `DecomposedLine` per row follows, and then a
/// word with the index of the first row that the kernel refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecomposedLayout {
    /// Emulation of f32.
    pub emulation: EmulationKind,
    /// Number of rows of A, or of columns of B.
    pub mn: usize,
    /// Length of the dot products.
    pub k: usize,
}

impl DecomposedLayout {
    /// Returns the elements of one term of a row, with its padding of zeros.
    pub const fn padded(&self) -> u64 {
        (self.k as u64).div_ceil(DEPTH as u64).saturating_mul(DEPTH as u64)
    }

    /// Returns the elements between neighboring rows. A row holds all of its terms.
    pub const fn leading(&self) -> u64 {
        self.padded().saturating_mul(self.emulation.terms() as u64)
    }

    /// Returns the offset of the row records in bytes.
    pub const fn lines_offset(&self) -> u64 {
        whole(TERM.matrix_bytes(self.leading().saturating_mul(self.mn as u64)))
    }

    /// Returns the offset in bytes of the word with the first refused row.
    pub const fn status_offset(&self) -> u64 {
        if !self.emulation.scales() {
            return self.lines_offset();
        }
        self.lines_offset().saturating_add(whole((self.mn as u64).saturating_mul(LINE_BYTES)))
    }

    /// Returns the total size in bytes.
    pub const fn bytes(&self) -> u64 {
        self.status_offset().saturating_add(if self.emulation.scales() {
            WORKSPACE_ALIGNMENT
        } else {
            0
        })
    }
}

/// Rounds up to a multiple of [`WORKSPACE_ALIGNMENT`], or saturates at `u64::MAX`.
const fn whole(bytes: u64) -> u64 {
    match bytes.checked_next_multiple_of(WORKSPACE_ALIGNMENT) {
        Some(whole) => whole,
        None => u64::MAX,
    }
}
