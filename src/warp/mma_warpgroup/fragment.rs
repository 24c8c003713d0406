//! Who holds what: the elements that a warpgroup's threads hold in registers.
//!
//! Thread `t` has lane `l = t mod 32` of warp `w = t / 32`; each warp has sixteen rows:
//!
//! ```text
//! accumulator i   m = 16 w + l / 4 + 8 (i / 2 mod 2)     n = 2 (l mod 4) + i mod 2 + 8 (i / 4)
//! A, element i    m = 16 w + l / 4 + 8 (i / p mod 2)     k = p (l mod 4) + i mod p + 4 p (i / 2p)
//!                                                        p = elements of a register
//! ```
//!
//! Source: PTX ISA, "Register Fragments" of `wgmma.mma_async`, one figure a type: the second line
//! is all of them.
//!
//! Twin: `kernels/warp/mma_warpgroup.cuh`.

use super::{
    Instruction,
    instruction::{ROWS, STEP_BYTES, THREADS},
};
use crate::{
    arch::WARP,
    index::{Coord, IndexMap, affine},
    layout::algebra::{self, Composed},
    numeric::ElementKind,
};

/// Rows of a warp.
const WARP_ROWS: u32 = 16;

/// Which row of an instruction's tile a thread's upper and lower row are, of lane `l` of warp `w`.
/// The hardware knows rows of operands and accumulators by their threads alone: who brings A to
/// registers may call its rows otherwise, if accumulators are taken by the same names.
///
/// ```text
/// Ordinary    16 w + l / 4 + 8 lower
/// Paired      16 w + 2 (l / 4) + lower
/// Crossed     16 w + 2 (l / 4) + (lower xor l / 16)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FragmentRows {
    /// As PTX numbers them, and shared memory gives them.
    Ordinary,
    /// Two neighbours a thread.
    Paired,
    /// The same, the other way round in the upper half of a warp: any eight lanes of one row each
    /// have rows that are different modulo 8, so that eight rows of the widest swizzle are on
    /// different banks.
    Crossed,
}

impl FragmentRows {
    /// The row of a thread, the upper one (`lower` = 0) or the lower one (1).
    pub const fn row(self, thread: u32, lower: u32) -> u32 {
        let (first, lane) = (thread / WARP * WARP_ROWS, thread % WARP);
        match self {
            Self::Ordinary => first + lane / 4 + 8 * lower,
            Self::Paired => first + lane / 4 * 2 + lower,
            Self::Crossed => first + lane / 4 * 2 + (lower ^ (lane / 16)),
        }
    }

    /// The name, as C++ has it.
    pub const fn cuda(self) -> &'static str {
        match self {
            Self::Ordinary => "warp::FragmentRows::Ordinary",
            Self::Paired => "warp::FragmentRows::Paired",
            Self::Crossed => "warp::FragmentRows::Crossed",
        }
    }

    /// How many rows the next four lanes' are below a lane's, and the lower row below the upper.
    /// Crossed rows are paired ones behind a swizzle.
    pub(crate) const fn strides(self) -> (u32, u32) {
        if matches!(self, Self::Ordinary) { (1, 8) } else { (2, 1) }
    }
}

/// The map (thread, accumulator) to `m * N + n`. Where accumulators are f16, register `r` holds 2r
/// below and 2r + 1 above.
///
/// ```
/// use falchion::internals::index::laws;
/// use falchion::numeric::ElementKind;
/// use falchion::warp::mma_warpgroup::{AccumulatorMap, Instruction, AOperand};
/// # use falchion::threadblock::Along;
/// let s8 = ElementKind::I8;
/// let wgmma = Instruction::new((s8, s8), ElementKind::I32, 8, AOperand::Registers, Along::K).expect("an instruction");
/// let map = AccumulatorMap::of(&wgmma);
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
    /// That of an instruction.
    pub const fn of(instruction: &Instruction) -> Self {
        Self { n: instruction.n(), rows: FragmentRows::Ordinary }
    }

    /// The same accumulators, the rows permuted.
    #[must_use]
    pub const fn with_rows(self, rows: FragmentRows) -> Self {
        Self { rows, ..self }
    }

    /// Columns.
    pub const fn n(&self) -> u32 {
        self.n
    }

    /// The coordinate (m, n) of accumulator `i` of a thread, if it has one.
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

    /// The lower bit of a crossed row is xor-ed with its highest, a bit of the offset where N is a
    /// power of two.
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

/// The map (thread, element of A) to `m * K + k` of one instruction. Register `r` holds elements `p
/// r` to `p r + p - 1`, the first in its lowest bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FragmentMap {
    /// The type of A.
    pub input: ElementKind,
}

/// Registers of a thread that hold A of one instruction.
pub const FRAGMENT_REGISTERS: u32 = 4;

impl FragmentMap {
    /// Elements of a register.
    pub const fn packed(&self) -> u32 {
        self.input.elements_in(4)
    }

    /// Elements of a thread.
    pub const fn held(&self) -> u32 {
        FRAGMENT_REGISTERS * self.packed()
    }

    /// The coordinate (m, k) of element `i` of a thread, if it has one.
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
