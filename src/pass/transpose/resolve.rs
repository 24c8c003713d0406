//! Which kernel a problem gets.
//!
//! Where every access can be 16 bytes wide, a thread turns a small block in its registers, and
//! chunks of what it stores are swizzled: padding by a chunk avoids the same conflicts, and takes
//! more shared memory. Elsewhere rows are gathered: accesses to global memory are as wide as ever,
//! and elements come out of shared memory one by one. Where a B is added, it would have to be
//! gathered too, and accesses are as wide as addresses, leading dimensions and extents allow.
//! Measured: `docs/performance/transpose.md`.

use super::{
    call::TransposeProblem,
    check::MOST_BLOCKS,
    desc::{Combine, Lanes, Staging, TransposeDesc},
};
use crate::{desc::Auto, threadblock::SwizzleKind};

/// How a transpose is computed, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// As the problem suggests.
    Auto,
    /// By this kernel, its accesses narrowed where the problem does not allow them.
    Desc(TransposeDesc),
}

/// How a transpose is computed, as a type: [`Auto`], which looks at the problem, or one of a user's
/// own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a configuration of a transpose",
    note = "write Auto, or implement Configuration"
)]
pub trait Configuration: 'static {
    /// The same choice, as a value.
    const CHOICE: Choice;
}

impl Configuration for Auto {
    const CHOICE: Choice = Choice::Auto;
}

impl Choice {
    /// The kernel that [`Auto`](Self::Auto) takes where every access can be 16 bytes wide.
    pub const fn aligned(combine: Combine, element_bytes: u32) -> TransposeDesc {
        auto(combine, element_bytes, 16 / element_bytes, 16 / element_bytes)
    }

    /// The kernels that [`Auto`](Self::Auto) takes for elements of so many bytes, 1, 2, 4 or 8,
    /// that only move: where every access can be 16 bytes wide, and elsewhere.
    pub const fn moves(element_bytes: u32) -> [TransposeDesc; 2] {
        [Self::aligned(Combine::Move, element_bytes), gathered(element_bytes)]
    }

    /// The kernel for a problem of elements of so many bytes.
    pub fn desc(
        &self,
        combine: Combine,
        element_bytes: u32,
        problem: &TransposeProblem,
    ) -> TransposeDesc {
        let wanted = match *self {
            Self::Auto => {
                let full = 16 / element_bytes;
                let (access_a, access_d) = problem.widths(&Self::aligned(combine, element_bytes));
                return if matches!(combine, Combine::Move) && (access_a < full || access_d < full) {
                    gathered(element_bytes)
                } else {
                    auto(combine, element_bytes, access_a, access_d)
                };
            }
            Self::Desc(desc) => TransposeDesc { combine, ..desc },
        };
        let (access_a, access_d) = problem.widths(&wanted);
        wanted.narrowed(access_a, access_d)
    }
}

/// The kernel for elements that can be accessed so many at a time. Of those that only move, all 16
/// bytes wide, the fastest of what was tried on an H200; tiles along D's rows, since blocks that
/// run together then write whole lines of D.
const fn auto(combine: Combine, element_bytes: u32, access_a: u32, access_d: u32) -> TransposeDesc {
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
        staging: Staging::Swizzled {
            bits: 3,
            base: chunk.trailing_zeros(),
            shift: access_a.trailing_zeros(),
        },
        lanes: Lanes::Along,
        order: SwizzleKind::Horizontal,
        read_once: false,
        write_stream: matches!(combine, Combine::F32) && wide,
        blocks_per_sm,
    }
}

/// The kernel for elements that lie anywhere.
const fn gathered(element_bytes: u32) -> TransposeDesc {
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
    /// The same kernel with accesses no wider than `access_a` and `access_d`; what is gathered
    /// needs no alignment.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What the resolver makes of every width is a kernel, where accesses are narrow, too.
    #[test]
    fn every_choice_is_a_kernel() {
        let moves = [1, 2, 4, 8].map(|bytes| (Combine::Move, bytes));
        for (combine, bytes) in moves.into_iter().chain([(Combine::F32, 4), (Combine::F64, 8)]) {
            if combine == Combine::Move {
                assert_eq!(Choice::moves(bytes).map(|desc| desc.check()), [Ok(()); 2]);
                continue;
            }
            let widths = || [1, 2, 4].into_iter().filter(|width| width * bytes <= 16);
            for (access_a, access_d) in widths().flat_map(|a| widths().map(move |d| (a, d))) {
                assert_eq!(
                    auto(combine, bytes, access_a, access_d).check(),
                    Ok(()),
                    "{combine:?} {access_a} {access_d}"
                );
            }
        }
    }
}
