//! Loads of an M-major A of 8 or 32 bits to registers. No descriptor reads such an operand M-major,
//! so each warp loads it itself.
//!
//! The tile is a sequence of boxes with 128 bytes along M, one row per k, under the 128-byte
//! swizzle. A warp holds 16 of an instruction's 64 rows. Let `p = l / 4` and `q = l mod 4` for lane
//! `l`. The instruction needs from the lane rows `p` and `p + 8`, and of each row the k in bytes
//! `4q` to `4q + 3` and `16 + 4q` to `16 + 4q + 3` of its 32 bytes of K. The tile rows behind these
//! two rows can be chosen freely ([`FragmentRows`]). They are the neighbors `2p` and `2p + 1` here,
//! which one access reads together.
//!
//! ```text
//! 8 bits    ldmatrix.x4.trans takes four matrices of eight k, 16 bytes of M each: lane l gets rows 2p, 2p + 1 of the matrix's k 2q, 2q + 1
//!           matrices 0, 1 have the first 16 k, 2, 3 the others:   k = 16 (matrix / 2) + 4 q + 2 (matrix xor q / 2) mod 4 + (0, 1)
//!           so in lanes of q >= 2, the words of two matrices are swapped; each lane permutes the bytes of both words with its own selector
//! 32 bits   two accesses of 8 bytes:                              k = q + 4 (access xor q mod 2)
//!           so in lanes of odd q, they are swapped
//! ```
//!
//! These orders avoid bank conflicts. The eight k of a matrix, and the four k of a half warp's
//! access, differ modulo 8 or are paired with chunks that do. The swizzle maps chunk `c` of row k
//! to `c xor k mod 8`.
//!
//! Twin: `kernels/warp/wgmma/registers.cuh`.

use crate::{
    arch::WARP,
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine},
    },
    warp::{
        warpgroup::{FragmentRows, ROWS, THREADS},
        wgmma::{FragmentMap, OperandTile, STEPS, instruction::STEP_BYTES},
    },
};

/// Loads of A by a warpgroup: the map from (thread, element of the registers of a whole stage) to
/// the element's offset in the tile. Row `128 i + t` of the domain is thread `t` of the `i`-th
/// instruction tile of 64 rows.
///
/// ```
/// use falchion::{internals::index::{IndexMap, at, laws}, numeric::ElementKind, warp::wgmma::{FragmentLoad, FragmentRows, OperandTile}};
/// let tile = OperandTile::for_fragments(ElementKind::E4m3, 128).expect("a tile");
/// let load = FragmentLoad { tile, rows: FragmentRows::Paired };
/// // Lane 9 holds rows 4 and 5; of the first step its first register has k 4 to 7 of row 4.
/// assert_eq!(load.at(at(9, 0)), tile.byte_offset(4, 4));
/// assert_eq!(load.at(at(9, 4)), tile.byte_offset(5, 4));
/// assert_eq!(laws::bijective(&load), Ok(()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FragmentLoad {
    /// Tile of A in shared memory.
    pub tile: OperandTile,
    /// Rows of a thread: [`Paired`](FragmentRows::Paired), or for 8-bit elements also
    /// [`Crossed`](FragmentRows::Crossed).
    pub rows: FragmentRows,
}

impl FragmentLoad {
    /// Returns the k within a step. For 8 bits, it belongs to row `row` of matrix `matrix` of an
    /// `ldmatrix`. For 32 bits, it belongs to access `matrix` of a lane with `l mod 4 = row`.
    pub const fn depth(&self, matrix: u32, row: u32) -> u32 {
        if self.tile.input().bits() == 8 {
            let quad = row / 2;
            matrix / 2 * 16 + 4 * quad + 2 * ((matrix % 2) ^ (quad / 2)) + row % 2
        } else {
            row + 4 * (matrix ^ (row % 2))
        }
    }

    /// Returns the byte of the tile that a lane addresses in one access; the 64 rows begin at `m`.
    /// For 8 bits, it is the start of row `lane mod 8` of matrix `lane / 8`. For 32 bits, it
    /// belongs to access `access`.
    pub const fn address(&self, thread: u32, m: u32, step: u32, access: u32) -> Option<u32> {
        let (warp, lane) = (thread / WARP, thread % WARP);
        let k = step * self.tile.input().elements_in(STEP_BYTES);
        if self.tile.input().bits() == 8 {
            self.tile.byte_offset(m + 16 * warp, k + self.depth(lane / 8, lane % 8))
        } else {
            self.tile.byte_offset(m + 16 * warp + 2 * (lane / 4), k + self.depth(access, lane % 4))
        }
    }

    /// Returns the `prmt` selector with which a lane builds its upper or lower register from two
    /// words of 8-bit elements.
    pub const fn selector(&self, lane: u32, lower: u32) -> u32 {
        let crossed = if matches!(self.rows, FragmentRows::Crossed) { lane / 16 } else { 0 };
        let rows = if lower ^ crossed == 0 { 0x6420 } else { 0x7531 };
        if lane % 4 < 2 { rows } else { rows >> 8 | (rows & 0xff) << 8 }
    }

    /// Returns the origin of byte `byte` of a lane's register `register` of a step: the word or
    /// access, the byte of the lane's rows, and the k of the step.
    const fn origin(&self, lane: u32, register: u32, byte: u32) -> (u32, u32) {
        let (half, lower, quad) = (register / 2, register % 2, lane % 4);
        if self.tile.input().bits() == 8 {
            // Bytes of a word: rows 2p and 2p + 1 of the first k, then of the second k.
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

    /// Returns the tile's layout composed with the order of elements by threads. `None` for crossed
    /// rows, because a swizzle of the rows and the tile's swizzle do not compose to one.
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
