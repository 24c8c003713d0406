//! The selection of a transpose kernel for a problem.
//!
//! If every access can be 16 bytes wide, a thread transposes a small block in its registers, and
//! the chunks that it stores are swizzled. Padding by a chunk would avoid the same bank conflicts
//! with more shared memory. Otherwise, a transpose without C gathers: its accesses to global memory
//! keep 16 bytes, and it loads elements one by one from shared memory. With C, a transpose does not
//! gather, because C would also have to be gathered. Its accesses are as wide as addresses, leading
//! dimensions, and extents allow. Measured: `docs/performance/transpose.md`.

use crate::{
    nest::Auto,
    numeric::ElementKind,
    operand::{
        Problem,
        transpose::{
            check::MOST_BLOCKS,
            desc::{Combine, Lanes, Staging, TransposeDesc},
        },
    },
    threadblock::SwizzleKind,
};

/// The selection of a transpose kernel, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// The kernel is selected for the problem.
    Auto,
    /// This kernel, with narrower accesses if the problem requires them.
    Desc(TransposeDesc),
}

/// The selection of a transpose kernel, as a type: [`Auto`], which depends on the problem, or a
/// user-defined type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a configuration of a transpose",
    note = "write Auto, or implement Configuration"
)]
pub trait Configuration: 'static {
    /// The selection as a value.
    const CHOICE: Choice;
}

impl Configuration for Auto {
    const CHOICE: Choice = Choice::Auto;
}

impl Choice {
    /// Returns the kernel that [`Auto`](Self::Auto) selects if every access can be 16 bytes wide.
    pub const fn aligned(combine: Combine, element_bytes: u32) -> TransposeDesc {
        auto(combine, element_bytes, 16 / element_bytes, 16 / element_bytes)
    }

    /// Returns the two kernels that [`Auto`](Self::Auto) selects for transposes without arithmetic:
    /// if every access can be 16 bytes wide, and otherwise. `element_bytes` is 1, 2, 4, or 8.
    pub const fn moves(element_bytes: u32) -> [TransposeDesc; 2] {
        [Self::aligned(Combine::Move, element_bytes), gathered(element_bytes)]
    }

    /// Returns the kernel for the transpose `problem` of elements of type `kind`.
    pub fn desc(&self, kind: ElementKind, problem: &Problem) -> TransposeDesc {
        let problem = &problem.read_by_transpose();
        let (combine, element_bytes) =
            (Combine::for_scalars(kind, &problem.scalars), kind.bytes_of(1));
        let wanted = match *self {
            Self::Auto => {
                let full = 16 / element_bytes;
                let (access_a, access_d) = Self::aligned(combine, element_bytes).widths(problem);
                return if matches!(combine, Combine::Move) && (access_a < full || access_d < full) {
                    gathered(element_bytes)
                } else {
                    auto(combine, element_bytes, access_a, access_d)
                };
            }
            Self::Desc(desc) => TransposeDesc { combine, ..desc },
        };
        let (access_a, access_d) = wanted.widths(problem);
        wanted.narrowed(access_a, access_d)
    }
}

/// Returns the kernel for accesses of `access_a` and `access_d` elements. For transposes without
/// arithmetic and 16-byte accesses, it is the fastest of the tested kernels on an H200. Tiles
/// follow D's rows, because concurrent CTAs then write whole cache lines of D.
const fn auto(combine: Combine, element_bytes: u32, access_a: u32, access_d: u32) -> TransposeDesc {
    let full = 16 / element_bytes;
    let wide = access_a == full && access_d == full;
    let (rows, columns, threads, thread_rows, blocks_per_sm) = match (combine, element_bytes) {
        (Combine::Move, 8) => (32, 64, 128, 2, 6),
        (Combine::Move, 4) => (64, 64, 256, 4, 4),
        (Combine::Move, 2) => (128, 128, 256, 4, 4),
        (Combine::Move, _) => (256, 128, 128, 8, 3),
        (Combine::F32, _) if wide => (64, 128, 128, 4, 2),
        (Combine::F32, _) => (64, 64, 256, 4, 3),
        (Combine::F64, _) if wide => (64, 64, 512, 2, 2),
        (Combine::F64, _) => (64, 32, 256, 2, 3),
    };
    let chunk = if thread_rows > access_d { thread_rows } else { access_d };
    TransposeDesc {
        combine,
        element_bytes,
        rows,
        columns,
        threads,
        access_a,
        thread_rows,
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

/// Returns the kernel for elements at any alignment.
const fn gathered(element_bytes: u32) -> TransposeDesc {
    let full = 16 / element_bytes;
    let (rows, columns, threads, blocks_per_sm) = match element_bytes {
        8 => (32, 32, 128, 3),
        4 => (64, 32, 256, 3),
        2 => (128, 64, 256, 4),
        // A line and its additional access are eight accesses, and a line of D has 256 bytes.
        _ => (256, 112, 256, 3),
    };
    TransposeDesc {
        rows,
        columns,
        threads,
        thread_rows: 1,
        staging: Staging::Gathered,
        blocks_per_sm,
        ..auto(Combine::Move, element_bytes, full, full)
    }
}

impl TransposeDesc {
    /// Returns the kernel with accesses of at most `access_a` and `access_d` elements. A kernel
    /// that gathers needs no alignment and stays as it is.
    #[must_use]
    pub fn narrowed(self, access_a: u32, access_d: u32) -> Self {
        if self.is_gathered() {
            return self;
        }
        let mut narrow = self;
        narrow.access_a = self.access_a.min(access_a);
        narrow.access_d = self.access_d.min(access_d);
        if !narrow.is_staged() {
            narrow.thread_rows = narrow.access_d;
        }
        // Elements smaller than a register need one register each if they are loaded one by one.
        while (2..=MOST_BLOCKS).contains(&narrow.blocks_per_sm) && narrow.check().is_err() {
            narrow.blocks_per_sm -= 1;
        }
        narrow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the resolver returns a valid kernel for every access width.
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
