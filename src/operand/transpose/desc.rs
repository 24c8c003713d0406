//! The description of a transpose kernel.

use crate::{
    epilogue::SCALARS,
    numeric::ElementKind,
    operand::transpose::maps::{GatheredTile, PieceMap},
    shape::at_least_one,
    threadblock::{
        SECTOR_BYTES, SwizzleKind,
        smem::{Along, SmemTile},
    },
};
use core::fmt;

/// The arithmetic on an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Combine {
    /// None: `D = Aᵀ`, bit by bit.
    Move,
    /// `D = alpha Aᵀ + beta C` in f32: two products and their sum, each rounded to nearest even.
    F32,
    /// `D = alpha Aᵀ + beta C` in f64, with the same roundings.
    F64,
}

impl Combine {
    /// Returns the arithmetic for `alpha` and `beta`. It is `Move` if they are 1 and 0, and for all
    /// types except f32 and f64. [`TransposeDesc::enter`] rejects other scalars for those types.
    pub fn for_scalars(kind: ElementKind, &[alpha, beta, ..]: &[f64; SCALARS]) -> Self {
        let scales = [alpha, beta] != [1.0, 0.0];
        match kind {
            ElementKind::F32 if scales => Self::F32,
            ElementKind::F64 if scales => Self::F64,
            _ => Self::Move,
        }
    }

    /// Returns the element type of the arithmetic; `None` for `Move`.
    pub const fn kind(self) -> Option<ElementKind> {
        match self {
            Self::Move => None,
            Self::F32 => Some(ElementKind::F32),
            Self::F64 => Some(ElementKind::F64),
        }
    }
}

/// The place of a tile between the reads of its rows and the writes of its columns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase", deny_unknown_fields)
)]
pub enum Staging {
    /// In registers: the thread that reads a piece also writes it, without shared memory.
    Direct,
    /// In shared memory, with this many elements of padding after each column of A.
    Padded(u32),
    /// In shared memory, as the aligned accesses that contain the rows of A. A thread gathers the
    /// elements that it writes from any offset in these rows, so neither matrix needs alignment.
    Gathered,
    /// In shared memory, with chunks of `2^base` elements of a column permuted by `bits` bits of
    /// the column's number, from bit `shift` on; see [`SmemTile`].
    Swizzled {
        /// Number of permuted bits.
        bits: u32,
        /// Elements per chunk, as a power of two.
        base: u32,
        /// First bit of the column's number that permutes them.
        shift: u32,
    },
}

/// The direction of a warp's lanes when they write D.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Lanes {
    /// Along D's rows: a warp writes consecutive elements.
    Along,
    /// Across D's rows: a warp writes one row per lane.
    Across,
}

/// A transpose kernel, with one tile of A per CTA.
///
/// A tile has `rows` x `columns` elements of A. A thread reads `thread_rows` rows of `access_a`
/// consecutive elements and transposes them in its registers. It then stores each of the `access_a`
/// columns, which are `thread_rows` consecutive elements of D, to shared memory. After a barrier,
/// it loads `access_d` consecutive elements of D and writes them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct TransposeDesc {
    /// The arithmetic.
    pub combine: Combine,
    /// Bytes per element: 1, 2, 4, or 8.
    pub element_bytes: u32,
    /// Rows of A per tile.
    pub rows: u32,
    /// Columns of A per tile.
    pub columns: u32,
    /// Threads per CTA.
    pub threads: u32,
    /// Elements per access to A, up to 16 bytes.
    pub access_a: u32,
    /// Rows of A that a thread transposes in its registers, and elements per store to shared
    /// memory, up to 16 bytes.
    pub thread_rows: u32,
    /// Elements per access to D and to C, up to 16 bytes.
    pub access_d: u32,
    /// The place of the tile between reads and writes.
    pub staging: Staging,
    /// The direction of lanes over D.
    pub lanes: Lanes,
    /// The order in which CTAs compute the tiles of D.
    pub order: SwizzleKind,
    /// Whether loads of A do not allocate in the L1 cache (`ld.global.nc.L1::no_allocate`).
    pub read_once: bool,
    /// Whether stores to D are marked as streaming (`st.global.cs`).
    pub write_stream: bool,
    /// Smallest number of resident CTAs per SM.
    pub blocks_per_sm: u32,
}

/// Registers per thread in addition to its data: addresses, extents, and counters. Measured on the
/// kernels of `tests/nvrtc/transpose.rs`.
const REGISTERS_BESIDES: u32 = 20;

impl TransposeDesc {
    /// Returns the tile in shared memory: the map (row of A, column of A) to an offset in elements.
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

    /// Returns whether tiles pass through shared memory.
    pub const fn is_staged(&self) -> bool {
        !matches!(self.staging, Staging::Direct)
    }

    /// Returns whether a thread gathers the elements that it writes.
    pub const fn is_gathered(&self) -> bool {
        matches!(self.staging, Staging::Gathered)
    }

    /// Returns the tile of gathered rows in shared memory: the map (line, element) to an offset in
    /// elements.
    pub const fn gathered(&self) -> GatheredTile {
        let PieceMap { lines, pieces, .. } = self.fetch();
        GatheredTile {
            lines,
            pitch: pieces.saturating_mul(self.access_a),
            group: self.access_d,
            skew: self.stored(),
        }
    }

    /// Returns whether threads load the bytes of an access in an order that starts at their line
    /// number modulo the access width, and then rotate them into place. Lanes whose accesses begin
    /// at other bytes then read the same line, or the line one group later.
    pub const fn rotates(&self) -> bool {
        self.is_gathered() && self.element_bytes == 1 && self.access_a == 16 && self.access_d == 16
    }

    /// Returns whether all loads of a thread begin at one offset in their accesses. One address and
    /// one place in shared memory then suffice for all loads: a thread's lines are whole groups of
    /// 16 lines apart.
    pub const fn shares_addresses(&self) -> bool {
        let run = at_least_one(self.fetch().run());
        let lines = self.threads / run;
        let whole = self.threads.is_multiple_of(run) && lines > 0 && lines.is_multiple_of(16);
        self.rotates() && whole
    }

    /// Returns the elements per store of gathered rows to shared memory: an access, or half of one.
    /// With half, sixteen groups of lines use different banks.
    pub const fn stored(&self) -> u32 {
        if self.rotates() { self.access_a / 2 } else { self.access_a }
    }

    /// Returns the alignment, in elements, of what a gathered tile writes to a row of D. It is a
    /// sector, because L2 writes whole sectors faster. If a tile does not have whole sectors, or if
    /// a thread's pieces of D are not whole sectors apart, it is an access.
    pub const fn write_alignment(&self) -> u32 {
        let sector = SECTOR_BYTES / at_least_one(self.element_bytes);
        let apart = self.threads.saturating_mul(self.access_d) / at_least_one(self.rows);
        let whole = self.rows.is_multiple_of(sector) && apart.is_multiple_of(sector);
        if whole { sector } else { self.access_d }
    }

    /// Returns the number of lines of a gathered tile before its first row. A row of D that is not
    /// aligned begins inside the sector or access that precedes the tile.
    pub const fn lines_before(&self) -> u32 {
        if self.is_gathered() { self.write_alignment().saturating_sub(1) } else { 0 }
    }

    /// Returns the map from threads to the pieces of A: `thread_rows` rows of `access_a` columns.
    ///
    /// For gathered tiles, lines are all lines that any row of D needs, and they may end in the
    /// middle of an access.
    pub const fn fetch(&self) -> PieceMap {
        let pieces = self.columns / at_least_one(self.access_a);
        let (lines, pieces) = if self.is_gathered() {
            (self.rows.saturating_add(self.lines_before()), pieces.saturating_add(1))
        } else {
            (self.rows / at_least_one(self.thread_rows), pieces)
        };
        PieceMap { threads: self.threads, lines, pieces, lanes: Lanes::Along }
    }

    /// Returns the map from threads to the pieces of D: `access_d` consecutive elements of a row of
    /// D, which is a column of A.
    pub const fn write(&self) -> PieceMap {
        PieceMap {
            threads: self.threads,
            lines: self.columns,
            pieces: self.rows / at_least_one(self.access_d),
            lanes: self.lanes,
        }
    }

    /// Returns the bytes of shared memory per CTA.
    pub const fn smem_bytes(&self) -> u32 {
        let elements = match self.staging {
            Staging::Direct => 0,
            Staging::Gathered => self.gathered().elements(),
            _ => self.smem().elements(),
        };
        elements.saturating_mul(self.element_bytes)
    }

    /// Returns the number of accesses per thread to D, and to C.
    const fn stores(&self) -> u32 {
        if self.is_staged() {
            self.write().steps()
        } else {
            self.fetch().steps().saturating_mul(self.access_a)
        }
    }

    /// Returns the number of loads per thread of A and C, which are all in flight at once.
    pub const fn reads(&self) -> u32 {
        let source = if matches!(self.combine, Combine::Move) { 0 } else { self.stores() };
        self.fetch().steps().saturating_mul(self.thread_rows).saturating_add(source)
    }

    /// Returns an estimate of the registers per thread.
    pub const fn registers(&self) -> u32 {
        const fn words(elements: u32, bytes: u32) -> u32 {
            elements.saturating_mul(bytes).div_ceil(4)
        }
        let reads = self.fetch().steps();
        let data = reads
            .saturating_mul(self.thread_rows)
            .saturating_mul(words(self.access_a, self.element_bytes));
        let source = match self.combine {
            Combine::Move => 0,
            _ => self.stores().saturating_mul(words(self.access_d, self.element_bytes)),
        };
        if self.is_gathered() {
            // The place of each gathered element needs a register after the loads have been stored
            // to shared memory. Before that, each load needs an address and a place, unless all
            // loads share them.
            let addresses = if self.shares_addresses() { 2 } else { reads.saturating_mul(2) };
            let data = data.saturating_add(addresses);
            let taken = self.access_d.saturating_add(words(self.access_d, self.element_bytes));
            return if data > taken { data } else { taken }.saturating_add(REGISTERS_BESIDES);
        }
        // Loads in flight also need their addresses: beyond 64 registers of data, one per register.
        let all = data.saturating_add(source);
        let column = words(self.thread_rows, self.element_bytes).saturating_add(REGISTERS_BESIDES);
        all.saturating_add(all / 4).saturating_add(all.saturating_sub(64)).saturating_add(column)
    }
}

impl fmt::Display for TransposeDesc {
    /// Writes the configuration as one word: tile, threads, accesses, staging, and order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, threads, access_a, thread_rows, access_d, blocks_per_sm, .. } =
            self;
        write!(f, "{rows}x{columns}_t{threads}_a{access_a}x{thread_rows}x{access_d}")?;
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

#[cfg(feature = "serde")]
impl TransposeDesc {
    /// Parses a description in JSON, in which each field has its own name. The caller must still
    /// check the description.
    ///
    /// # Errors
    /// [`Error::Description`](crate::Error::Description) if the text is not JSON, or if a field is
    /// missing or unknown.
    pub fn from_json(text: &str) -> Result<Self, crate::Error> {
        serde_json::from_str(text).map_err(crate::nest::json::refuse)
    }
}
