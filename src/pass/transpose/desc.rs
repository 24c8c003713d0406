//! A transpose's kernel, as a value.

use super::maps::{GatheredTile, PieceMap};
use crate::{
    numeric::ElementKind,
    shape::at_least_one,
    smem::{Along, SmemTile},
    threadblock::SwizzleKind,
};
use core::fmt;

/// What becomes of an element on its way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Combine {
    /// Nothing: `D = Aᵀ`, bit by bit.
    Move,
    /// `D = alpha Aᵀ + beta B` in f32: two products and their sum, each rounded to nearest even.
    F32,
    /// The same in f64.
    F64,
}

impl Combine {
    /// What `alpha` and `beta` make of elements: nothing where they are 1 and 0, nor where the type
    /// is neither f32 nor f64, whose scalars
    /// [`TransposeProblem::check`](super::TransposeProblem::check) then refuses.
    pub fn of(kind: ElementKind, scalars: [f64; 2]) -> Self {
        match kind {
            ElementKind::F32 if scalars != [1.0, 0.0] => Self::F32,
            ElementKind::F64 if scalars != [1.0, 0.0] => Self::F64,
            _ => Self::Move,
        }
    }

    /// The element type that is computed in; `None` where nothing is.
    pub const fn kind(self) -> Option<ElementKind> {
        match self {
            Self::Move => None,
            Self::F32 => Some(ElementKind::F32),
            Self::F64 => Some(ElementKind::F64),
        }
    }
}

/// Where a tile waits between its rows and its columns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase", deny_unknown_fields)
)]
pub enum Staging {
    /// In the registers of the thread that read it, which also writes it: there is no shared
    /// memory.
    Direct,
    /// In shared memory, columns of A so many elements longer than the tile.
    Padded(u32),
    /// In shared memory, rows of A in the aligned accesses in which they lie; a thread gathers what
    /// it writes, wherever in its row each element has come to lie. Nothing has to be aligned.
    Gathered,
    /// In shared memory, chunks of `2^base` elements of a column permuted by `bits` bits of the
    /// column's number, from bit `shift` on; see [`SmemTile`].
    Swizzled {
        /// Bits that move.
        bits: u32,
        /// Elements of a chunk, as a power of two.
        base: u32,
        /// First bit of the column's number that moves them.
        shift: u32,
    },
}

/// Which way the lanes of a warp run when they write D.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Lanes {
    /// Along D's rows: a warp writes neighbours.
    Along,
    /// Across D's rows: a warp writes as many rows as it has lanes.
    Across,
}

/// A transpose's kernel: one tile of A a block.
///
/// A tile is `rows` x `columns` elements of A. A thread reads `turn` rows of `access_a` neighbours,
/// turns them in its registers, and puts each of the `access_a` columns, `turn` neighbours of D,
/// into shared memory; when all have, it takes `access_d` neighbours of D and writes them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct TransposeDesc {
    /// What is computed.
    pub combine: Combine,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub element_bytes: u32,
    /// Rows of A in a tile.
    pub rows: u32,
    /// Columns of A in a tile.
    pub columns: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Elements in one access to A, up to 16 bytes.
    pub access_a: u32,
    /// Rows of A that a thread turns in its registers; elements in one store to shared memory, up
    /// to 16 bytes.
    pub turn: u32,
    /// Elements in one access to D and to B, up to 16 bytes.
    pub access_d: u32,
    /// Where the tile waits.
    pub staging: Staging,
    /// Which way lanes run over D.
    pub lanes: Lanes,
    /// Which block computes which tile of D.
    pub order: SwizzleKind,
    /// Whether reads of A pass the first-level cache by (`ld.global.nc.L1::no_allocate`).
    pub read_once: bool,
    /// Whether writes to D are marked as streaming (`st.global.cs`).
    pub write_stream: bool,
    /// Blocks that a multiprocessor holds at once, at least.
    pub blocks_per_sm: u32,
}

/// Registers a thread needs besides its data: addresses, extents, counters. Measured on the kernels
/// of `tests/nvrtc/transpose.rs`.
const REGISTERS_BESIDES: u32 = 20;

impl TransposeDesc {
    /// The tile in shared memory: the map (row of A, column of A) to an offset in elements.
    pub const fn smem(&self) -> SmemTile {
        let plain = SmemTile {
            along: Along::Mn,
            mn: self.rows,
            k: self.columns,
            padding: 0,
            bits: 0,
            base: 0,
            shift: 0,
        };
        match self.staging {
            Staging::Direct | Staging::Gathered => plain,
            Staging::Padded(padding) => SmemTile { padding, ..plain },
            Staging::Swizzled { bits, base, shift } => SmemTile { bits, base, shift, ..plain },
        }
    }

    /// Whether tiles pass through shared memory.
    pub const fn is_staged(&self) -> bool {
        !matches!(self.staging, Staging::Direct)
    }

    /// Whether a thread gathers what it writes.
    pub const fn is_gathered(&self) -> bool {
        matches!(self.staging, Staging::Gathered)
    }

    /// Where the accesses of A's rows lie in shared memory, when they are gathered: (line, element)
    /// to an offset in elements.
    pub const fn gathered(&self) -> GatheredTile {
        let PieceMap { lines, pieces, .. } = self.fetch();
        GatheredTile {
            lines,
            pitch: pieces.saturating_mul(self.access_a),
            group: self.access_d,
            skew: self.stored(),
        }
    }

    /// Whether threads take the bytes of an access by their lines' numbers modulo its width, and
    /// rotate them into place: lanes whose accesses begin elsewhere then read the same line, or the
    /// one a group further on.
    pub const fn rotates(&self) -> bool {
        self.is_gathered() && self.element_bytes == 1 && self.access_a == 16 && self.access_d == 16
    }

    /// Elements of one store to shared memory, when rows are gathered: an access, or half of one,
    /// so that sixteen groups of lines lie on banks of their own.
    pub const fn stored(&self) -> u32 {
        if self.rotates() { self.access_a / 2 } else { self.access_a }
    }

    /// Which thread reads which piece of A: `turn` rows of `access_a` columns.
    ///
    /// Where rows are gathered, lines are those that any row of D asks for, and end in the middle
    /// of an access.
    pub const fn fetch(&self) -> PieceMap {
        let pieces = self.columns / at_least_one(self.access_a);
        let (lines, pieces) = if self.is_gathered() {
            (self.rows.saturating_add(self.access_d.saturating_sub(1)), pieces.saturating_add(1))
        } else {
            (self.rows / at_least_one(self.turn), pieces)
        };
        PieceMap { threads: self.threads, lines, pieces, lanes: Lanes::Along }
    }

    /// Which thread writes which piece of D: `access_d` neighbours of a row of D, which is a column
    /// of A.
    pub const fn write(&self) -> PieceMap {
        PieceMap {
            threads: self.threads,
            lines: self.columns,
            pieces: self.rows / at_least_one(self.access_d),
            lanes: self.lanes,
        }
    }

    /// Bytes of shared memory.
    pub const fn smem_bytes(&self) -> u32 {
        let elements = match self.staging {
            Staging::Direct => 0,
            Staging::Gathered => self.gathered().elements(),
            _ => self.smem().elements(),
        };
        elements.saturating_mul(self.element_bytes)
    }

    /// Accesses of a thread to D, and to B.
    const fn stores(&self) -> u32 {
        if self.is_staged() {
            self.write().steps()
        } else {
            self.fetch().steps().saturating_mul(self.access_a)
        }
    }

    /// Accesses of a thread to A and B: all are under way at once.
    pub const fn reads(&self) -> u32 {
        let source = if matches!(self.combine, Combine::Move) { 0 } else { self.stores() };
        self.fetch().steps().saturating_mul(self.turn).saturating_add(source)
    }

    /// Registers a thread needs, about.
    pub const fn registers(&self) -> u32 {
        const fn words(elements: u32, bytes: u32) -> u32 {
            elements.saturating_mul(bytes).div_ceil(4)
        }
        let reads = self.fetch().steps();
        let data = reads
            .saturating_mul(self.turn)
            .saturating_mul(words(self.access_a, self.element_bytes));
        let source = match self.combine {
            Combine::Move => 0,
            _ => self.stores().saturating_mul(words(self.access_d, self.element_bytes)),
        };
        if self.is_gathered() {
            // Where a thread's elements lie takes a register each, once what was fetched is in
            // shared memory; before, each access its address and its place.
            let data = data.saturating_add(reads.saturating_mul(2));
            let taken = self.access_d.saturating_add(words(self.access_d, self.element_bytes));
            return if data > taken { data } else { taken }.saturating_add(REGISTERS_BESIDES);
        }
        // The addresses of accesses that are under way at once, too: beyond some, each word's own.
        let all = data.saturating_add(source);
        let turned = words(self.turn, self.element_bytes).saturating_add(REGISTERS_BESIDES);
        all.saturating_add(all / 4).saturating_add(all.saturating_sub(64)).saturating_add(turned)
    }
}

impl fmt::Display for TransposeDesc {
    /// The configuration in one word: tile, threads, accesses, staging, order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, threads, access_a, turn, access_d, blocks_per_sm, .. } = self;
        write!(f, "{rows}x{columns}_t{threads}_a{access_a}x{turn}x{access_d}")?;
        match self.staging {
            Staging::Direct => f.write_str("_direct")?,
            Staging::Gathered => f.write_str("_gathered")?,
            Staging::Padded(padding) => write!(f, "_p{padding}")?,
            Staging::Swizzled { bits, base, shift } => write!(f, "_x{bits}.{base}.{shift}")?,
        }
        if matches!(self.lanes, Lanes::Across) {
            f.write_str("_across")?;
        }
        write!(f, "_o{}_b{blocks_per_sm}", self.order)?;
        f.write_str(if self.read_once { "_r" } else { "" })?;
        f.write_str(if self.write_stream { "_w" } else { "" })
    }
}
