//! Which kernel a problem gets.
//!
//! Accesses are as wide as addresses, leading dimensions and extents allow. Where 16 bytes move at a time, a thread turns a
//! small block in its registers, and chunks of 16 bytes are swizzled: padding by a chunk would do as well, and takes more
//! shared memory. Where elements move one by one, rows are turned all the same, so shared memory is written 16 bytes at a time.
//! Measured: `docs/transpose.md`.

use super::{
    arguments::TransposeShapes,
    check::MOST_BLOCKS,
    desc::{Combine, Lanes, Staging, TransposeDesc},
    rungs::Rung,
};
use crate::threadblock::SwizzleKind;

/// How a transpose is computed, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// As the problem suggests.
    Auto,
    /// By a rung of the ladder.
    Rung(Rung),
    /// By this kernel, its accesses narrowed where the problem does not allow them.
    Desc(TransposeDesc),
}

impl Choice {
    /// The kernel for a problem whose A, B and D begin at such elements, counted from address 0.
    pub fn desc(&self, combine: Combine, element_bytes: u32, shapes: &TransposeShapes, first: [u64; 3]) -> TransposeDesc {
        let wanted = match *self {
            // The top rung is the resolver's choice.
            Self::Auto | Self::Rung(Rung::Vectorized) => {
                let full = 16 / element_bytes;
                let (access_a, access_d) = shapes.widths(&auto(combine, element_bytes, full, full), first);
                return if matches!(combine, Combine::Move) && (access_a < full || access_d < full) {
                    gathered(element_bytes)
                } else {
                    auto(combine, element_bytes, access_a, access_d)
                };
            }
            Self::Rung(rung) => rung.desc(combine, element_bytes),
            Self::Desc(desc) => TransposeDesc { combine, ..desc },
        };
        let (access_a, access_d) = shapes.widths(&wanted, first);
        wanted.narrowed(access_a, access_d)
    }
}

/// The kernel for elements that can be accessed so many at a time.
pub(crate) const fn auto(combine: Combine, element_bytes: u32, access_a: u32, access_d: u32) -> TransposeDesc {
    let (rows, columns, turn) = match (element_bytes, access_a) {
        (8, _) => (64, 32, 2),
        (4, _) => (64, 64, 4),
        (2, 1 | 2) => (64, 64, 8),
        (2, _) => (128, 128, 8),
        (_, 1 | 2) => (128, 64, 16),
        (_, 4) => (128, 128, 16),
        (_, _) => (128, 128, 8),
    };
    let pieces = rows / turn * columns / access_a;
    let threads = if pieces < 256 { pieces } else { 256 };
    let chunk = if turn > access_d { turn } else { access_d };
    TransposeDesc {
        combine,
        element_bytes,
        rows,
        columns,
        threads,
        access_a,
        turn,
        access_d,
        staging: Staging::Swizzled { bits: 3, base: chunk.trailing_zeros(), shift: access_a.trailing_zeros() },
        lanes: Lanes::Along,
        order: SwizzleKind::Identity(1),
        read_once: false,
        write_stream: false,
        blocks_per_sm: if matches!(combine, Combine::Move) { 4 } else { 3 },
    }
}

/// The kernel for elements that lie anywhere.
pub(crate) const fn gathered(element_bytes: u32) -> TransposeDesc {
    let full = 16 / element_bytes;
    let side = if element_bytes == 8 { 32 } else { 64 };
    TransposeDesc {
        rows: side,
        columns: side,
        threads: 256,
        turn: 1,
        staging: Staging::Gathered,
        ..auto(Combine::Move, element_bytes, full, full)
    }
}

impl TransposeDesc {
    /// The same kernel with accesses no wider than `access_a` and `access_d`; what is gathered needs no alignment.
    #[must_use]
    pub fn narrowed(self, access_a: u32, access_d: u32) -> Self {
        if self.is_gathered() {
            return self;
        }
        let mut narrow = self;
        narrow.access_a = self.access_a.min(access_a);
        narrow.access_d = self.access_d.min(access_d);
        if !narrow.is_staged() {
            narrow.turn = narrow.access_d;
        }
        // Elements of less than a word take a register each when they come one by one.
        while (2..=MOST_BLOCKS).contains(&narrow.blocks_per_sm) && narrow.check().is_err() {
            narrow.blocks_per_sm -= 1;
        }
        narrow
    }
}
