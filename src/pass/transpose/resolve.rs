//! Which kernel a problem gets.
//!
//! Where every access can be 16 bytes wide, a thread turns a small block in its registers, and chunks of what it stores are
//! swizzled: padding by a chunk avoids the same conflicts, and takes more shared memory. Elsewhere rows are gathered: accesses to global
//! memory are as wide as ever, and elements come out of shared memory one by one. Where a B is added, it would have to be gathered
//! too, and accesses are as wide as addresses, leading dimensions and extents allow. Measured: `docs/transpose.md`.

use super::{
    call::TransposeProblem,
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
    /// The kernels that [`Auto`](Self::Auto) takes for elements of so many bytes, 1, 2, 4 or 8, that only move: where every access can be
    /// 16 bytes wide, and elsewhere.
    pub const fn moves(element_bytes: u32) -> [TransposeDesc; 2] {
        let full = 16 / element_bytes;
        [auto(Combine::Move, element_bytes, full, full), gathered(element_bytes)]
    }

    /// The kernel for a problem of elements of so many bytes.
    pub fn desc(&self, combine: Combine, element_bytes: u32, problem: &TransposeProblem) -> TransposeDesc {
        let wanted = match *self {
            // The top rung is the resolver's choice.
            Self::Auto | Self::Rung(Rung::Vectorized) => {
                let full = 16 / element_bytes;
                let (access_a, access_d) = problem.widths(&auto(combine, element_bytes, full, full));
                return if matches!(combine, Combine::Move) && (access_a < full || access_d < full) {
                    gathered(element_bytes)
                } else {
                    auto(combine, element_bytes, access_a, access_d)
                };
            }
            Self::Rung(rung) => rung.desc(combine, element_bytes),
            Self::Desc(desc) => TransposeDesc { combine, ..desc },
        };
        let (access_a, access_d) = problem.widths(&wanted);
        wanted.narrowed(access_a, access_d)
    }
}

/// The kernel for elements that can be accessed so many at a time. Of those that only move, all 16 bytes wide, the fastest of
/// what was tried on an H200; tiles along D's rows, since blocks that run together then write whole lines of D.
pub(crate) const fn auto(combine: Combine, element_bytes: u32, access_a: u32, access_d: u32) -> TransposeDesc {
    let full = 16 / element_bytes;
    let wide = access_a == full && access_d == full;
    let (rows, columns, threads, turn, blocks_per_sm) = match (combine, element_bytes) {
        (Combine::Move, 8) => (32, 64, 128, 2, 6),
        (Combine::Move, 4) => (64, 64, 256, 4, 4),
        (Combine::Move, 2) => (128, 128, 256, 4, 4),
        (Combine::Move, _) => (256, 128, 128, 8, 3),
        (Combine::F32, _) if wide => (64, 128, 128, 4, 2),
        (Combine::F32, _) => (64, 64, 256, 4, 3),
        (Combine::F64, _) if wide => (64, 64, 512, 2, 2),
        (Combine::F64, _) => (64, 32, 256, 2, 3),
    };
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
        order: SwizzleKind::Horizontal,
        read_once: false,
        write_stream: matches!(combine, Combine::F32) && wide,
        blocks_per_sm,
    }
}

/// The kernel for elements that lie anywhere.
pub(crate) const fn gathered(element_bytes: u32) -> TransposeDesc {
    let full = 16 / element_bytes;
    let (rows, columns, threads, blocks_per_sm) = match element_bytes {
        8 => (32, 32, 128, 3),
        4 => (64, 32, 256, 3),
        2 => (128, 64, 256, 4),
        // A line and the access that it needs more are eight, and a line of D 256 bytes.
        _ => (256, 112, 256, 3),
    };
    TransposeDesc {
        rows,
        columns,
        threads,
        turn: 1,
        staging: Staging::Gathered,
        write_stream: matches!(element_bytes, 1 | 4),
        blocks_per_sm,
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
