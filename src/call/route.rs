//! How each operand of a call reaches its kernel: where it lies, or laid out again in the caller's workspace first.
//!
//! The copy engine of Hopper reads rows that begin at multiples of 16 bytes, tensor cores read elements of 8 and 32 bits along K alone,
//! and threads that multiply what it brings read along M and N. An A that comes
//! from registers (`a_operand`) is read along M. A description keeps the layouts that the user has; which order a tile has in shared memory, and so which one
//! the kernel reads, its [`OperandNeed`] says. An operand that lies otherwise makes a detour:
//!
//! | the operand | route | what the kernel reads |
//! |---|---|---|
//! | address and leading dimension are multiples of 16 bytes | [`Route::Direct`] | the operand |
//! | one of them is not | [`Route::Relaid`] | a copy in the same order, whose leading dimension is whole |
//! | contiguous along M or N and read along K, or the other way | [`Route::Transposed`] | its transpose |
//! | of `f32`, for tensor cores | [`Route::Split`] | rows of its parts |
//!
//! Other main loops read everything where it lies, with narrower accesses. D never makes a detour: threads store what the copy
//! engine does not.
//!
//! ```
//! use falchion::{arch::{ArchKind, OpKind}, epilogue::SCALARS, internals::call::Shapes, layout::Order, numeric::{Combined, ElementKind}, refusal::Route};
//! # use falchion::internals::family::default_gemm_configuration::default_description;
//!
//! let i8s = Combined { a: ElementKind::I8, b: ElementKind::I8, accumulator: ElementKind::I32, c: ElementKind::I32 };
//! // Both operands are contiguous along K; packed rows of 4095 bytes are not whole.
//! let desc = default_description(OpKind::TensorOp, ArchKind::Sm90, i8s, [Order::Row, Order::Col, Order::Row])?;
//! let mut scalars = [0.0; SCALARS];
//! scalars[0] = 1.0;
//! let shapes = Shapes::of(&desc, (4096, 4096, 4095), [None, Some(4096), None], scalars);
//! let routes = desc.routes(&shapes, [0, 0])?;
//! assert_eq!((routes.a.route, routes.b.route), (Route::Relaid, Route::Direct));
//! assert_eq!(routes.to_string(), "A relaid");
//! // 4096 rows of 4096 bytes, and what it takes to begin at a multiple of 256.
//! assert_eq!(routes.workspace_bytes(), 4096 * 4096 + 256);
//! # Ok::<(), falchion::Refusal>(())
//! ```

use super::{
    SplitLayout,
    arguments::{MatrixShape, Shapes},
};
use crate::{
    desc::{Class, GemmDesc},
    numeric::SplitKind,
    operand::OperandKind,
    refusal::{Refusal, Route},
    smem::Along,
    threadblock::tensor_map::{ADDRESS_ALIGNMENT, MOST_STRIDE_BYTES, STRIDE_ALIGNMENT},
};
use core::fmt;

/// The way of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// How.
    pub route: Route,
    /// The leading dimension of what the kernel reads, in elements.
    pub leading: usize,
    /// Where that begins, in bytes from the first multiple of [`WORKSPACE_ALIGNMENT`] in the workspace on; 0 of a direct one.
    pub offset: u64,
    /// Bytes of the workspace that it takes.
    pub bytes: u64,
}

/// The ways of both operands, by the names that the user has for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Routes {
    /// Of A.
    pub a: Way,
    /// Of B.
    pub b: Way,
}

/// What an operand has to be for a kernel to read it where it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandNeed {
    /// Threads read it in accesses of at most so many elements, in whichever order it lies; narrower ones are another kernel's.
    Accesses(u32),
    /// TMA reads its rows along this index; they begin at multiples of 16 bytes.
    Rows {
        /// The index that is contiguous in what it reads.
        along: Along,
    },
    /// TMA reads rows of parts, into which the operand is split before.
    Parts(SplitKind),
}

/// What begins in the workspace begins at multiples of so many bytes of the address space.
pub const WORKSPACE_ALIGNMENT: u64 = 256;

/// Rows of the workspace are multiples of so many bytes, lines of the second-level cache, where that costs little.
const LINE: u64 = 128;

/// What whole lines may cost: one part in so many of a row.
const LITTLE: u64 = 16;

impl Routes {
    /// The ways of a call's operands, of which A and B begin at such addresses: all that matters of an address is its remainder
    /// by 16. Sizes are those that [`Shapes::check`] accepts; of others the workspace may be the largest number.
    ///
    /// # Errors
    ///
    /// [`Refusal::Layouts`] when the shapes' layouts are not the description's.
    pub fn of(desc: &GemmDesc, needs: [OperandNeed; 2], shapes: &Shapes, addresses: [u64; 2]) -> Result<Self, Refusal> {
        let problem = shapes.canonical_for(desc)?;
        let [a, b] = if desc.frame.is_exchanged() { [addresses[1], addresses[0]] } else { addresses };
        let nothing = problem.m == 0 || problem.n == 0 || problem.k == 0;
        let read = !nothing && desc.class.output.epilogue.reads(&shapes.scalars).accumulator;
        let way = |operand: OperandKind, shape: MatrixShape, mn, address| match needs[operand.index()] {
            OperandNeed::Rows { along } if read => Way::of_rows(&desc.class, (operand, along), shape, (mn, problem.k), address),
            OperandNeed::Parts(split) if read => Way::of_parts(SplitLayout { split, mn, k: problem.k }),
            _ => Way::direct(shape),
        };
        let (a, b) = (way(OperandKind::A, problem.a, problem.m, a), way(OperandKind::B, problem.b, problem.n, b));
        let (a, b) = if desc.frame.is_exchanged() { (b, a) } else { (a, b) };
        // B's begins where A's ends.
        let offset = if b.route == Route::Direct { 0 } else { a.bytes };
        Ok(Self { a, b: Way { offset, ..b } })
    }

    /// Bytes of a workspace that is enough wherever it begins; 0 when none is read.
    pub const fn workspace_bytes(&self) -> u64 {
        match self.a.bytes.saturating_add(self.b.bytes) {
            0 => 0,
            bytes => bytes.saturating_add(WORKSPACE_ALIGNMENT),
        }
    }
}

impl Way {
    const fn direct(shape: MatrixShape) -> Self {
        Self { route: Route::Direct, leading: shape.leading, offset: 0, bytes: 0 }
    }

    /// That of an operand that is split into parts.
    fn of_parts(layout: SplitLayout) -> Self {
        Self { route: Route::Split, leading: layout.leading() as usize, offset: 0, bytes: layout.bytes() }
    }

    /// That of an operand of the row-major problem whose rows TMA reads, of M or N, and K.
    fn of_rows(
        class: &Class,
        (operand, along): (OperandKind, Along),
        shape: MatrixShape,
        (mn, k): (usize, usize),
        address: u64,
    ) -> Self {
        let (element, along_k) = (class.operand(operand).element, along.is(Along::K));
        let (length, lines) = if along_k { (k, mn) } else { (mn, k) };
        let route = if along_k != class.k_contiguous(operand) {
            Route::Transposed
        } else {
            // Of one row nobody asks where the next one lies.
            let stride = if lines > 1 { element.matrix_bytes(shape.leading as u64) } else { 0 };
            let whole = address.is_multiple_of(ADDRESS_ALIGNMENT) && stride.is_multiple_of(STRIDE_ALIGNMENT);
            if whole && stride <= MOST_STRIDE_BYTES { Route::Direct } else { Route::Relaid }
        };
        if route == Route::Direct {
            return Self::direct(shape);
        }
        let pitch = pitch_bytes(element.matrix_bytes(length as u64));
        let bytes_of_all = pitch.saturating_mul(lines as u64).checked_next_multiple_of(WORKSPACE_ALIGNMENT);
        Self { route, leading: element.matrix_elements(pitch) as usize, offset: 0, bytes: bytes_of_all.unwrap_or(u64::MAX) }
    }
}

/// Bytes from one row of the workspace to the next: whole strides, and whole lines where they add little.
const fn pitch_bytes(row: u64) -> u64 {
    let (strides, lines) = (next_multiple(row, STRIDE_ALIGNMENT), next_multiple(row, LINE));
    if lines.saturating_sub(strides) <= strides / LITTLE { lines } else { strides }
}

/// The next multiple of a power of two, or the last one of 64 bits.
const fn next_multiple(bytes: u64, of: u64) -> u64 {
    bytes.saturating_add(of - 1) / of * of
}

impl fmt::Display for Routes {
    /// `direct`, or each detour: `A relaid, B transposed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.a.route, self.b.route) {
            (Route::Direct, Route::Direct) => f.write_str(Route::Direct.name()),
            (a, Route::Direct) => write!(f, "A {}", a.name()),
            (Route::Direct, b) => write!(f, "B {}", b.name()),
            (a, b) => write!(f, "A {}, B {}", a.name(), b.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pitch_bytes;

    /// `pitch(r) >= r`, a multiple of 16 bytes, of 128 where that costs a sixteenth at most, and never more than that.
    #[test]
    fn rows_of_the_workspace_are_whole() {
        for row in (1..5000).chain([1 << 31, (1 << 34) - 1]) {
            let (pitch, least) = (pitch_bytes(row), row.next_multiple_of(16));
            assert!(pitch >= row && pitch.is_multiple_of(16), "{row}: {pitch}");
            assert!(pitch == least || pitch.is_multiple_of(128) && pitch - least <= least / 16, "{row}: {pitch}");
        }
        assert_eq!([1, 100, 4095, 8190, 16382].map(pitch_bytes), [16, 112, 4096, 8192, 16384]);
        assert_eq!([8191 * 4, 8193 * 2, 200].map(pitch_bytes), [32768, 16512, 208]);
    }
}
