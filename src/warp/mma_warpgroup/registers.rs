//! A of 8 or 32 bits that is M-major: no descriptor reads it so, and a warp brings it to registers
//! itself.
//!
//! The tile is boxes along M of 128 bytes, one row a k, under the widest swizzle. A warp has 16 of
//! an instruction's 64 rows; with `p = l / 4` and `q = l mod 4` of lane `l`, the instruction wants
//! of it rows `p` and `p + 8`, and of each the k that lie in bytes `4q` to `4q + 3` and `16 + 4q`
//! to `16 + 4q + 3` of its 32 bytes of K. Which rows of the tile those two are is free
//! ([`FragmentRows`]): here neighbours, `2p` and `2p + 1`, which one access reads together.
//!
//! ```text
//! 8 bits    ldmatrix.x4.trans takes four matrices of eight k, 16 bytes of M each: lane l gets rows 2p, 2p + 1 of the matrix's k 2q, 2q + 1
//!           matrices 0, 1 have the first 16 k, 2, 3 the others:   k = 16 (matrix / 2) + 4 q + 2 (matrix xor q / 2) mod 4 + (0, 1)
//!           so lanes of q >= 2 find the words of two matrices exchanged, and the bytes of both words are dealt out by a selector a lane
//! 32 bits   two accesses of 8 bytes:                              k = q + 4 (access xor q mod 2)
//!           so lanes of odd q find them exchanged
//! ```
//!
//! That is what keeps the accesses free of conflicts: the eight k of a matrix, and the four of an
//! access's half warp, are different modulo 8, or come with chunks that are, and the swizzle sends
//! chunk `c` of row k to `c xor k mod 8`.
//!
//! Twin: `kernels/warp/mma_warpgroup/registers.cuh`.

use super::{
    FragmentMap, FragmentRows, OperandTile, STEPS,
    instruction::{ROWS, STEP_BYTES, THREADS},
};
use crate::{
    arch::WARP,
    index::{Coord, IndexMap, affine},
    layout::algebra::Composed,
};

/// What a warpgroup's threads load: the map (thread, element of the registers of a whole stage) to
/// the offset of that element in the tile, for each instruction's 64 rows in turn: thread `t` of
/// instruction `i` is row `128 i + t` of the domain.
///
/// ```
/// use falchion::{internals::index::{IndexMap, at, laws}, numeric::ElementKind, warp::mma_warpgroup::{FragmentLoad, FragmentRows, OperandTile}};
/// let tile = OperandTile::of_fragments(ElementKind::E4m3, 128).expect("a tile");
/// let load = FragmentLoad { tile, rows: FragmentRows::Paired };
/// // Lane 9 holds rows 4 and 5; of the first step its first register has k 4 to 7 of row 4.
/// assert_eq!(load.at(at(9, 0)), tile.byte_offset(4, 4));
/// assert_eq!(load.at(at(9, 4)), tile.byte_offset(5, 4));
/// assert_eq!(laws::bijective(&load), Ok(()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FragmentLoad {
    /// Where the elements lie.
    pub tile: OperandTile,
    /// Which rows a thread takes: [`Paired`](FragmentRows::Paired), or
    /// [`Crossed`](FragmentRows::Crossed) where elements have 8 bits.
    pub rows: FragmentRows,
}

impl FragmentLoad {
    /// The k of a step that row `row` of matrix `matrix` of an `ldmatrix` has; of 32 bits, that
    /// access `matrix` of a lane of `l mod 4 = row` takes.
    pub const fn depth(&self, matrix: u32, row: u32) -> u32 {
        if self.tile.input().bits() == 8 {
            let quad = row / 2;
            matrix / 2 * 16 + 4 * quad + 2 * ((matrix % 2) ^ (quad / 2)) + row % 2
        } else {
            row + 4 * (matrix ^ (row % 2))
        }
    }

    /// The byte of the tile at which a lane's address of one access points: of 8 bits, that of row
    /// `lane mod 8` of matrix `lane / 8`; of 32 bits, that of access `access`. The 64 rows begin at
    /// `m`.
    pub const fn address(&self, thread: u32, m: u32, step: u32, access: u32) -> Option<u32> {
        let (warp, lane) = (thread / WARP, thread % WARP);
        let k = step * self.tile.input().elements_in(STEP_BYTES);
        if self.tile.input().bits() == 8 {
            self.tile.byte_offset(m + 16 * warp, k + self.depth(lane / 8, lane % 8))
        } else {
            self.tile.byte_offset(m + 16 * warp + 2 * (lane / 4), k + self.depth(access, lane % 4))
        }
    }

    /// The selector with which a lane makes its upper or lower register of two words of 8-bit
    /// elements: as `prmt` takes it.
    pub const fn selector(&self, lane: u32, lower: u32) -> u32 {
        let crossed = if matches!(self.rows, FragmentRows::Crossed) { lane / 16 } else { 0 };
        let rows = if lower ^ crossed == 0 { 0x6420 } else { 0x7531 };
        if lane % 4 < 2 { rows } else { rows >> 8 | (rows & 0xff) << 8 }
    }

    /// Where byte `byte` of register `register` of a step comes from, of a lane: (which word, or
    /// access; which byte of the lane's rows; which k of the step).
    const fn origin(&self, lane: u32, register: u32, byte: u32) -> (u32, u32) {
        let (half, lower, quad) = (register / 2, register % 2, lane % 4);
        if self.tile.input().bits() == 8 {
            // Bytes of a word: rows 2p, 2p + 1 of the first k, and of the second.
            let source = self.selector(lane, lower) >> (4 * byte) & 7;
            let (matrix, within) = (2 * half + source / 4, source % 4);
            (within % 2, self.depth(matrix, 2 * quad + within / 2))
        } else {
            (lower, self.depth(half ^ (quad % 2), quad))
        }
    }
}

impl IndexMap for FragmentLoad {
    fn domain(&self) -> Coord {
        let held = FragmentMap { input: self.tile.input() }.held();
        Coord { row: self.tile.mn() / ROWS * THREADS, column: STEPS * held }
    }

    fn codomain(&self) -> u32 {
        self.tile.codomain()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let map = FragmentMap { input: self.tile.input() };
        let (instruction, thread) = (point.row / THREADS, point.row % THREADS);
        let (step, i) = (point.column / map.held(), point.column % map.held());
        let (register, part) = (i / map.packed(), i % map.packed());
        let (lane, warp) = (thread % WARP, thread / WARP);
        let (row, k) = self.origin(lane, register, part);
        let m = instruction * ROWS + 16 * warp + 2 * (lane / 4) + row;
        self.tile
            .at(Coord { row: m, column: step * map.input.elements_in(STEP_BYTES) + k })
            .filter(|_| step < STEPS)
    }

    /// The tile's layout after that of its elements by threads. Crossed rows are behind a swizzle
    /// of their own before that of the tile, and two swizzles are none.
    fn layout(&self) -> Option<Composed> {
        let (m, map) = (self.tile.mn(), FragmentMap { input: self.tile.input() });
        let (p, (next, lower)) = (map.packed(), self.rows.strides());
        let threads = [(4, p * m), (8, next), (4, 16), (m / ROWS, ROWS)];
        let held =
            [(p, m), (2, lower), (2, 4 * p * m), (STEPS, map.input.elements_in(STEP_BYTES) * m)];
        let elements = affine(self.domain(), &threads, &held)
            .filter(|_| !matches!(self.rows, FragmentRows::Crossed))?;
        self.tile.layout()?.compose_by(&elements.layout.into()).ok()
    }
}
