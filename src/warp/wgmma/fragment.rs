//! Register fragments of `wgmma`: the elements that each thread of a warpgroup holds.
//!
//! Thread `t` is lane `l = t mod 32` of warp `w = t / 32`. Each warp has sixteen rows:
//!
//! ```text
//! accumulator i   m = 16 w + l / 4 + 8 (i / 2 mod 2)     n = 2 (l mod 4) + i mod 2 + 8 (i / 4)
//! A, element i    m = 16 w + l / 4 + 8 (i / p mod 2)     k = p (l mod 4) + i mod p + 4 p (i / 2p)
//!                                                        p = elements of a register
//! ```
//!
//! Source: PTX ISA, "Register Fragments" of `wgmma.mma_async`. PTX has one figure per type; the
//! second line above covers all of them.
//!
//! Twin: `kernels/warp/wgmma.cuh`.

use crate::{
    layout::{
        algebra::{self, Composed},
        index_map::{Coord, IndexMap, affine},
    },
    numeric::ElementKind,
    warp::{
        warpgroup::{FragmentRows, ROWS, THREADS, WARP_ROWS},
        wgmma::{Instruction, instruction::STEP_BYTES},
    },
};

/// Map from (thread, accumulator) to `m * N + n`. For f16, register `r` holds accumulator 2r in its
/// low half and 2r + 1 in its high half.
///
/// ```
/// use falchion::internals::index::laws;
/// use falchion::numeric::ElementKind;
/// use falchion::warp::wgmma::{AccumulatorMap, Instruction, AOperand};
/// # use falchion::threadblock::Along;
/// let s8 = ElementKind::I8;
/// let wgmma = Instruction::new((s8, s8), ElementKind::I32, 8, AOperand::Registers, Along::K).expect("an instruction");
/// let map = AccumulatorMap::new(&wgmma);
/// assert_eq!(laws::bijective(&map), Ok(()));
/// // Rows 0 and 1 begin in threads 0 and 4; rows 0 and 8 are of one thread.
/// assert_eq!([(0, 0), (1, 0), (4, 0), (0, 2)].map(|(thread, i)| map.place(thread, i)), [(0, 0), (0, 2), (1, 0), (8, 0)].map(Some));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AccumulatorMap {
    n: u32,
    rows: FragmentRows,
}

impl AccumulatorMap {
    /// Returns the map of an instruction.
    pub const fn new(instruction: &Instruction) -> Self {
        Self { n: instruction.n(), rows: FragmentRows::Ordinary }
    }

    /// Returns the map with permuted rows.
    #[must_use]
    pub const fn with_rows(self, rows: FragmentRows) -> Self {
        Self { rows, ..self }
    }

    /// Returns the number of columns.
    pub const fn n(&self) -> u32 {
        self.n
    }

    /// Returns the coordinate (m, n) of accumulator `i` of a thread, or `None` if the thread has no
    /// such accumulator.
    pub const fn place(&self, thread: u32, i: u32) -> Option<(u32, u32)> {
        if thread >= THREADS || i >= ROWS * self.n / THREADS {
            return None;
        }
        Some((self.rows.row(thread, i / 2 % 2), 2 * (thread % 4) + i % 2 + 8 * (i / 4)))
    }
}

impl IndexMap for AccumulatorMap {
    fn domain(&self) -> Coord {
        Coord { row: THREADS, column: ROWS * self.n / THREADS }
    }

    fn codomain(&self) -> u32 {
        ROWS * self.n
    }

    fn at(&self, point: Coord) -> Option<u32> {
        self.place(point.row, point.column).map(|(m, n)| m * self.n + n)
    }

    /// Crossed rows XOR the lowest bit of the row with its highest bit. This is a swizzle of the
    /// offset only if N is a power of two.
    fn layout(&self) -> Option<Composed> {
        let (n, (next, lower)) = (self.n, self.rows.strides());
        let threads = [(4, 2), (8, next * n), (4, WARP_ROWS * n)];
        let layout = affine(self.domain(), &threads, &[(2, 1), (2, lower * n), (n / 8, 8)])?;
        match self.rows {
            FragmentRows::Crossed if !n.is_power_of_two() => None,
            FragmentRows::Crossed => {
                layout.swizzled(algebra::Swizzle::new(1, n.ilog2(), 3).ok()?).ok()
            }
            _ => Some(layout),
        }
    }
}

/// Map from (thread, element of A) to `m * K + k` of one instruction. Register `r` holds elements
/// `p r` to `p r + p - 1`, the first in its lowest bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FragmentMap {
    /// Element type of A.
    pub input: ElementKind,
}

/// Registers per thread that hold A of one instruction.
pub const FRAGMENT_REGISTERS: u32 = 4;

impl FragmentMap {
    /// Returns the elements per register.
    pub const fn packed(&self) -> u32 {
        self.input.elements_in(4)
    }

    /// Returns the elements per thread.
    pub const fn held(&self) -> u32 {
        FRAGMENT_REGISTERS * self.packed()
    }

    /// Returns the coordinate (m, k) of element `i` of a thread, or `None` if the thread has no
    /// such element.
    pub const fn place(&self, thread: u32, i: u32) -> Option<(u32, u32)> {
        if thread >= THREADS || i >= self.held() {
            return None;
        }
        let p = self.packed();
        Some((
            FragmentRows::Ordinary.row(thread, i / p % 2),
            p * (thread % 4) + i % p + 4 * p * (i / (2 * p)),
        ))
    }
}

impl IndexMap for FragmentMap {
    fn domain(&self) -> Coord {
        Coord { row: THREADS, column: self.held() }
    }

    fn codomain(&self) -> u32 {
        ROWS * self.input.elements_in(STEP_BYTES)
    }

    fn at(&self, point: Coord) -> Option<u32> {
        self.place(point.row, point.column).map(|(m, k)| m * self.input.elements_in(STEP_BYTES) + k)
    }

    fn layout(&self) -> Option<Composed> {
        let (p, k) = (self.packed(), self.input.elements_in(STEP_BYTES));
        affine(
            self.domain(),
            &[(4, p), (8, k), (4, WARP_ROWS * k)],
            &[(p, 1), (2, 8 * k), (2, 4 * p)],
        )
    }
}
