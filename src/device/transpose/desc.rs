//! A transpose's kernel, as a value.

use super::maps::PieceMap;
use crate::{
    arch::{ArchKind, Machine},
    desc::check::{check_alignment, nearest_power_of_two, within},
    numeric::ElementKind,
    refusal::Refusal,
    threadblock::{Along, SmemTile, SwizzleKind},
};
use core::fmt;

/// What becomes of an element on its way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Combine {
    /// Nothing: `D = Aᵀ`, bit by bit.
    Move,
    /// `D = alpha Aᵀ + beta B` in f32: two products and their sum, each rounded to nearest even.
    F32,
    /// The same in f64.
    F64,
}

impl Combine {
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase", deny_unknown_fields))]
pub enum Staging {
    /// In the registers of the thread that read it, which also writes it: there is no shared memory.
    Direct,
    /// In shared memory, columns of A so many elements longer than the tile.
    Padded(u32),
    /// In shared memory, chunks of `2^base` elements of a column permuted by `bits` bits of the column's number, from bit
    /// `shift` on; see [`SmemTile`].
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Lanes {
    /// Along D's rows: a warp writes neighbours.
    Along,
    /// Across D's rows: a warp writes as many rows as it has lanes.
    Across,
}

/// A transpose's kernel: one tile of A a block.
///
/// A tile is `rows` x `columns` elements of A. A thread reads `turn` rows of `access_a` neighbours, turns them in its registers,
/// and puts each of the `access_a` columns, `turn` neighbours of D, into shared memory; when all have, it takes `access_d`
/// neighbours of D and writes them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
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
    /// Rows of A that a thread turns in its registers; elements in one store to shared memory, up to 16 bytes.
    pub turn: u32,
    /// Elements in one access to D and to B, up to 16 bytes.
    pub access_d: u32,
    /// Whether accesses to A need no alignment: those within a row are two aligned words, of which a thread takes the part that
    /// it wants; those at its ends go element by element. For accesses of 4 bytes to elements of 1 or 2.
    pub peel_a: bool,
    /// Whether accesses to D need no alignment: each row of a tile is cut where accesses are aligned, and what is left over at
    /// its two ends goes element by element.
    pub peel_d: bool,
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

/// Registers a thread needs besides its data: addresses, extents, counters. Measured on the kernels of `tests/transpose_compile.rs`.
const REGISTERS_BESIDES: u32 = 20;

/// Reads that a thread may have under way: each holds an address and a condition besides its data.
const MOST_READS: u32 = 64;

/// Blocks that a multiprocessor holds, at most.
pub(super) const MOST_BLOCKS: u32 = 32;

/// The largest extent of a tile.
const LARGEST_TILE: u32 = 512;

impl TransposeDesc {
    /// The tile in shared memory: the map (row of A, column of A) to an offset in elements.
    pub const fn smem(&self) -> SmemTile {
        let plain = SmemTile { along: Along::Mn, mn: self.rows, k: self.columns, padding: 0, bits: 0, base: 0, shift: 0 };
        match self.staging {
            Staging::Direct => plain,
            Staging::Padded(padding) => SmemTile { padding, ..plain },
            Staging::Swizzled { bits, base, shift } => SmemTile { bits, base, shift, ..plain },
        }
    }

    /// Whether tiles pass through shared memory.
    pub const fn is_staged(&self) -> bool {
        !matches!(self.staging, Staging::Direct)
    }

    /// Which thread reads which piece of A: `turn` rows of `access_a` columns.
    pub const fn fetch(&self) -> PieceMap {
        let (lines, pieces) = (self.rows / self.turn, self.columns / self.access_a);
        PieceMap { threads: self.threads, lines, pieces, lanes: Lanes::Along }
    }

    /// Which thread writes which piece of D: `access_d` neighbours of a row of D, which is a column of A.
    pub const fn write(&self) -> PieceMap {
        PieceMap { threads: self.threads, lines: self.columns, pieces: self.rows / self.access_d, lanes: self.lanes }
    }

    /// Bytes of shared memory.
    pub const fn smem_bytes(&self) -> u32 {
        if self.is_staged() { self.smem().elements().saturating_mul(self.element_bytes) } else { 0 }
    }

    /// Accesses of a thread to D, and to B.
    const fn stores(&self) -> u32 {
        if self.is_staged() { self.write().steps() } else { self.fetch().steps() * self.access_a }
    }

    /// Accesses of a thread to A and B: all are under way at once.
    pub const fn reads(&self) -> u32 {
        self.fetch().steps() * self.turn + if matches!(self.combine, Combine::Move) { 0 } else { self.stores() }
    }

    /// Registers a thread needs, about.
    pub const fn registers(&self) -> u32 {
        const fn words(elements: u32, bytes: u32) -> u32 {
            (elements * bytes).div_ceil(4)
        }
        let data = self.fetch().steps() * self.turn * words(self.access_a, self.element_bytes);
        let source =
            if matches!(self.combine, Combine::Move) { 0 } else { self.stores() * words(self.access_d, self.element_bytes) };
        // The addresses of accesses that are under way at once, too: beyond some, each word's own.
        let all = data + source;
        all + all / 4 + all.saturating_sub(64) + words(self.turn, self.element_bytes) + REGISTERS_BESIDES
    }

    /// Whether this is a kernel for the newest machine that there is a tag of.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the field, its value, the limit and the nearest legal value.
    pub const fn check(&self) -> Result<(), Refusal> {
        self.check_on(&ArchKind::Sm90.machine())
    }

    /// Whether this is a kernel for `machine`.
    ///
    /// # Errors
    ///
    /// Those of [`check`](Self::check).
    pub const fn check_on(&self, machine: &Machine) -> Result<(), Refusal> {
        if let Err(refusal) = self.check_accesses() {
            return Err(refusal);
        }
        if let Err(refusal) = self.check_tile() {
            return Err(refusal);
        }
        if let Err(refusal) = self.check_staging() {
            return Err(refusal);
        }
        self.check_budgets(machine)
    }

    /// Compile-time door: a description that does not check fails the build with its sentence.
    pub const fn expect(self) -> Self {
        match self.check() {
            Ok(()) => self,
            Err(refusal) => panic!("{}", refusal.sentence().as_str()),
        }
    }

    const fn check_accesses(&self) -> Result<(), Refusal> {
        let bytes = self.element_bytes;
        if !(bytes.is_power_of_two() && bytes <= 8) {
            let nearest = nearest_power_of_two(bytes, 1, 8) as u64;
            return Err(Refusal::NotOneOf { field: "bytes of an element", value: bytes as u64, legal: "1, 2, 4, 8", nearest });
        }
        if let Some(kind) = self.combine.kind()
            && kind.bytes() != bytes
        {
            let nearest = kind.bytes() as u64;
            return Err(Refusal::OutOfRange { field: "bytes of an element", value: bytes as u64, least: nearest, most: nearest });
        }
        let (mut i, fields) = (0, [("access to A", self.access_a), ("turn", self.turn), ("access to D", self.access_d)]);
        while i < fields.len() {
            if let Err(refusal) = check_alignment(fields[i].0, fields[i].1, bytes) {
                return Err(refusal);
            }
            i += 1;
        }
        if self.peel_a && !(self.access_a * bytes == 4 && bytes < 4) {
            let nearest = (4 / bytes) as u64;
            return Err(Refusal::NotOneOf {
                field: "access to A, when peeled,",
                value: self.access_a as u64,
                legal: "4 bytes of elements of 1 or 2",
                nearest,
            });
        }
        if self.peel_d && (!self.is_staged() || self.combine.kind().is_some()) {
            return Err(Refusal::NotPeeled {
                what: if self.is_staged() {
                    "B would be read unaligned too"
                } else {
                    "there is no shared memory to cut rows anew"
                },
            });
        }
        Ok(())
    }

    const fn check_tile(&self) -> Result<(), Refusal> {
        let fields = [
            ("rows of a tile", self.rows, LARGEST_TILE),
            ("columns of a tile", self.columns, LARGEST_TILE),
            ("threads of a block", self.threads, 1024),
        ];
        let mut i = 0;
        while i < fields.len() {
            let (field, value, most) = fields[i];
            if let Err(refusal) = within(field, value, if i == 2 { 32 } else { 1 }, most) {
                return Err(refusal);
            }
            i += 1;
        }
        if let SwizzleKind::Identity(abreast) = self.order
            && let Err(refusal) = within("tiles abreast", abreast, 1, 64)
        {
            return Err(refusal);
        }
        let nests = [
            ("threads of a block", "warp", "", self.threads, 32),
            ("tile", "turn", "rows", self.rows, self.turn),
            ("tile", "access to D", "rows", self.rows, self.access_d),
            ("tile", "access to A", "columns", self.columns, self.access_a),
        ];
        let mut i = 0;
        while i < nests.len() {
            let (outer, inner, axis, value, of) = nests[i];
            if !value.is_multiple_of(of) {
                return Err(Refusal::DoesNotNest { outer, inner, axis, value, of, nearest: value.next_multiple_of(of) });
            }
            i += 1;
        }
        let maps = [("pieces of A in a tile", self.fetch()), ("pieces of D in a tile", self.write())];
        let mut i = 0;
        while i < maps.len() {
            let (field, map) = maps[i];
            let (pieces, threads) = (map.lines * map.pieces, self.threads);
            if i == 1 && !self.is_staged() {
                return Ok(());
            }
            if !pieces.is_multiple_of(threads) {
                let nearest = pieces.next_multiple_of(threads);
                return Err(Refusal::DoesNotNest {
                    outer: field,
                    inner: "block of threads",
                    axis: "",
                    value: pieces,
                    of: threads,
                    nearest,
                });
            }
            // Then a thread's steps are a constant apart, and what it knows of one it knows of all.
            let run = map.run();
            if !threads.is_multiple_of(run) && !run.is_multiple_of(threads) {
                let nearest = threads.next_multiple_of(run);
                return Err(Refusal::DoesNotNest {
                    outer: "threads of a block",
                    inner: "line of pieces",
                    axis: "",
                    value: threads,
                    of: run,
                    nearest,
                });
            }
            i += 1;
        }
        Ok(())
    }

    const fn check_staging(&self) -> Result<(), Refusal> {
        match self.staging {
            Staging::Direct => {
                if self.access_d != self.turn {
                    // A thread writes what it has turned.
                    let of = self.turn as u64;
                    return Err(Refusal::OutOfRange {
                        field: "access to D without shared memory",
                        value: self.access_d as u64,
                        least: of,
                        most: of,
                    });
                }
                return Ok(());
            }
            Staging::Padded(padding) => {
                if let Err(refusal) = within("padding", padding, 0, 64) {
                    return Err(refusal);
                }
            }
            Staging::Swizzled { bits, base, shift } => {
                let fields = [("swizzle bits", bits, 1, 5), ("swizzle base", base, 0, 5), ("swizzle shift", shift, 0, 8)];
                let mut i = 0;
                while i < fields.len() {
                    let (field, value, least, most) = fields[i];
                    if let Err(refusal) = within(field, value, least, most) {
                        return Err(refusal);
                    }
                    i += 1;
                }
                let chunk = 1 << (bits + base);
                if !self.rows.is_multiple_of(chunk) {
                    return Err(Refusal::SwizzleBeyondRow { operand: "the tile", chunk, row: self.rows });
                }
            }
        }
        let accesses = [("turn", self.turn), ("access to D", self.access_d)];
        let mut i = 0;
        while i < accesses.len() {
            let (field, access) = accesses[i];
            let run = self.smem().vector(access);
            // Elements of a peeled access leave shared memory one by one.
            if run < access && !(i == 1 && self.peel_d) {
                return Err(Refusal::AccessApart { field, access, run });
            }
            i += 1;
        }
        Ok(())
    }

    const fn check_budgets(&self, machine: &Machine) -> Result<(), Refusal> {
        if let Err(refusal) = within("reads of a thread", self.reads(), 1, MOST_READS) {
            return Err(refusal);
        }
        let (threads, blocks) = (self.threads, self.blocks_per_sm);
        if let Err(refusal) = within("blocks per multiprocessor", blocks, 1, MOST_BLOCKS) {
            return Err(refusal);
        }
        if let Err(refusal) = within("threads of a block", threads, 32, machine.threads_per_block) {
            return Err(refusal);
        }
        if let Err(refusal) = within("threads of a multiprocessor", threads * blocks, 32, machine.threads_per_sm) {
            return Err(refusal);
        }
        // The hardware gives registers to warps in eights.
        let share = machine.registers_per_sm / (threads * blocks) / 8 * 8;
        let available = if share < 255 { share } else { 255 };
        let needed = self.registers();
        if needed > available {
            return Err(Refusal::Registers { needed, available, threads, blocks });
        }
        let (needed, available) = (self.smem_bytes(), machine.shared_bytes_each_of(blocks));
        if needed > available {
            return Err(Refusal::SharedMemory {
                needed,
                available,
                stages: 1,
                stage: needed,
                deposit: 0,
                blocks,
                arch: machine.sm,
            });
        }
        Ok(())
    }
}

impl fmt::Display for TransposeDesc {
    /// The configuration in one word: tile, threads, accesses, staging, order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, threads, access_a, turn, access_d, blocks_per_sm, .. } = self;
        let peeled = |peel: bool| if peel { "p" } else { "" };
        let (peel_a, peel_d) = (peeled(self.peel_a), peeled(self.peel_d));
        write!(f, "{rows}x{columns}_t{threads}_a{access_a}{peel_a}x{turn}x{access_d}{peel_d}")?;
        match self.staging {
            Staging::Direct => f.write_str("_direct")?,
            Staging::Padded(padding) => write!(f, "_p{padding}")?,
            Staging::Swizzled { bits, base, shift } => write!(f, "_x{bits}.{base}.{shift}")?,
        }
        if matches!(self.lanes, Lanes::Across) {
            f.write_str("_across")?;
        }
        write!(f, "_o{}_b{blocks_per_sm}", self.order.abreast())?;
        f.write_str(if self.read_once { "_r" } else { "" })?;
        f.write_str(if self.write_stream { "_w" } else { "" })
    }
}
