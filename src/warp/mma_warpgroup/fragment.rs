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
//! Source: PTX ISA, "Register Fragments" of `wgmma.mma_async`, one figure a type: the second line is all of them.
//!
//! Twin: `kernels/warp/mma_warpgroup.cuh`.

use super::{
    WgmmaInput,
    instruction::{ROWS, THREADS},
    tile::lay,
};
use crate::{
    index::{Coord, IndexMap, points},
    threadblock::thread_map::WARP,
};
use core::fmt::Write;

/// Rows of a warp.
const WARP_ROWS: u32 = 16;

const fn row(thread: u32, lower: u32) -> u32 {
    thread / WARP * WARP_ROWS + thread % WARP / 4 + 8 * lower
}

/// The map (thread, accumulator) to `m * n + column`. Where accumulators are f16, register `r` holds 2r below and 2r + 1 above.
///
/// ```
/// use falchion::{index::laws, warp::mma_warpgroup::{AccumulatorMap, holders}};
/// let map = AccumulatorMap { n: 8 };
/// assert_eq!(laws::bijective(&map), Ok(()));
/// assert!(holders(&map, 8).starts_with("T0:0   T0:1   T1:0   T1:1   T2:0   T2:1   T3:0   T3:1\nT4:0 "));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AccumulatorMap {
    /// Columns of the instruction.
    pub n: u32,
}

impl AccumulatorMap {
    /// The coordinate of accumulator `i` of a thread.
    pub const fn place(&self, thread: u32, i: u32) -> (u32, u32) {
        (row(thread, i / 2 % 2), 2 * (thread % 4) + i % 2 + 8 * (i / 4))
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
        let (m, n) = self.place(point.row, point.column);
        Some(m * self.n + n)
    }
}

/// The map (thread, element of A) to `m * K + k` of one instruction. Register `r` holds elements `p r` to `p r + p - 1`, the
/// first in its lowest bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FragmentMap {
    /// The type of A.
    pub input: WgmmaInput,
}

/// Registers of a thread that hold A of one instruction.
pub const FRAGMENT_REGISTERS: u32 = 4;

impl FragmentMap {
    /// Elements of a register.
    pub const fn packed(&self) -> u32 {
        4 / self.input.bytes()
    }

    /// The coordinate of element `i` of a thread.
    pub const fn place(&self, thread: u32, i: u32) -> (u32, u32) {
        let p = self.packed();
        (row(thread, i / p % 2), p * (thread % 4) + i % p + 4 * p * (i / (2 * p)))
    }

    /// The registers of all threads for `steps` instructions along K, thread by thread: of each element, the low bytes of what
    /// `bits` gives for (m, k).
    pub fn lay(&self, steps: u32, bits: impl Fn(u32, u32) -> u32) -> Vec<u8> {
        let held = Held { map: *self, steps };
        lay(&held, self.input.bytes(), |point| {
            let (m, k) = self.place(point.row, point.column % held.elements());
            bits(m, point.column / held.elements() * self.input.k() + k)
        })
    }
}

impl IndexMap for FragmentMap {
    fn domain(&self) -> Coord {
        Coord { row: THREADS, column: FRAGMENT_REGISTERS * self.packed() }
    }

    fn codomain(&self) -> u32 {
        ROWS * self.input.k()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (m, k) = self.place(point.row, point.column);
        Some(m * self.input.k() + k)
    }
}

/// What threads hold of several instructions' A: their registers one behind the other.
struct Held {
    map: FragmentMap,
    steps: u32,
}

impl Held {
    fn elements(&self) -> u32 {
        self.map.domain().column
    }
}

impl IndexMap for Held {
    fn domain(&self) -> Coord {
        Coord { row: THREADS, column: self.elements() * self.steps }
    }

    fn codomain(&self) -> u32 {
        THREADS * self.elements() * self.steps
    }

    fn at(&self, point: Coord) -> Option<u32> {
        Some(point.row * self.domain().column + point.column)
    }
}

/// The matrix of `columns` columns, each element by the thread and the number under which it is held: `T5:2`. `.` where no thread
/// holds it.
pub fn holders(map: &dyn IndexMap, columns: u32) -> String {
    let columns = columns.max(1);
    let mut held = vec![".".to_owned(); map.codomain() as usize];
    for point in points(map) {
        if let Some(cell) = map.at(point).and_then(|offset| held.get_mut(offset as usize)) {
            *cell = format!("T{}:{}", point.row, point.column);
        }
    }
    let width = held.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for row in held.chunks(columns as usize) {
        let cells: Vec<_> = row.iter().map(|cell| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", cells.join(" ").trim_end());
    }
    text
}
