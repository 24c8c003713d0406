//! The repack pass: copies a matrix so that each row begins at a multiple of 16 bytes.
//!
//! The pass copies bytes, independent of the element type and of the layout. A *piece* is 16 bytes
//! of a row of the copy. The rows of the source begin at any address, so a piece spans one or two
//! aligned accesses to the source:
//!
//! ```text
//! source       |  . . x x x x x x  |  x x x x x x . .  |      accesses of 16 bytes, aligned
//! destination      |  x x x x x x x x x x x x  |              a piece: both, shifted by the bytes that the first has too many
//! ```
//!
//! A tile consists of some pieces of some rows. A thread copies several pieces, and all of its
//! loads are in flight at once. A load that extends beyond the matrix reads byte by byte; this
//! happens only in the tiles with the first and the last bytes. The padding at the end of a row has
//! no defined value, because no kernel reads it.
//!
//! Twin: `kernels/operand/repack.cuh`.

use crate::{
    codegen::{RepackCopyParams, RepackParams, TranslationUnit, fingerprint_assertion},
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine, at},
    },
    operand::{PassBatch, unit_of},
    refusal::Refusal,
    threadblock::{Grid, Launch},
};

/// Bytes per piece and per access.
pub const PIECE: u64 = 16;

/// The kernel of a repack pass, as a value. Threads per CTA times pieces per thread is a power of
/// two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RepackDesc {
    /// Threads per CTA.
    pub threads: u32,
    /// Pieces per thread.
    pub steps: u32,
}

/// The kernel that Falchion uses.
pub const REPACK: RepackDesc = RepackDesc { threads: 256, steps: 4 };

/// The extents of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepackShapes {
    /// Number of rows.
    pub rows: u64,
    /// Bytes per row.
    pub row_bytes: u64,
    /// Bytes from one row of the source to the next.
    pub stride: u64,
    /// Bytes from one row of the copy to the next, a multiple of 16.
    pub pitch: u64,
}

/// The map (thread, step) to `line * pitch + piece`: the position in the copy, in pieces, that a
/// thread writes in a step.
///
/// Consecutive threads copy consecutive pieces of a row, and then pieces of the next row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepackMap {
    desc: RepackDesc,
    log_pieces: u32,
    pitch: u32,
}

impl RepackDesc {
    /// Returns the number of pieces per tile.
    pub const fn tile(&self) -> u32 {
        self.threads * self.steps
    }

    /// Returns the base-2 logarithm of the width of tiles, for rows of `pieces` pieces. A tile is
    /// as wide as a row, but at most as wide as its number of pieces.
    pub const fn log_pieces(&self, pieces: u64) -> u32 {
        let (row, most) =
            (u64::BITS - pieces.saturating_sub(1).leading_zeros(), self.tile().ilog2());
        if row < most { row } else { most }
    }
}

impl RepackMap {
    /// Returns the map for tiles with rows of `2^log_pieces` pieces. Rows of the copy are
    /// `2^log_pieces + between` pieces apart. A row of a tile is at most as long as the tile.
    pub fn new(desc: RepackDesc, log_pieces: u32, between: u16) -> Self {
        let log_pieces = log_pieces.min(desc.tile().ilog2());
        Self { desc, log_pieces, pitch: (1 << log_pieces) + u32::from(between) }
    }

    /// Returns the number of rows per tile.
    pub const fn lines(&self) -> u32 {
        self.desc.tile() >> self.log_pieces
    }

    /// Returns the line and the piece of a thread's step.
    const fn place(&self, thread: u32, step: u32) -> (u32, u32) {
        let number = thread + step * self.desc.threads;
        (number >> self.log_pieces, number & ((1 << self.log_pieces) - 1))
    }
}

impl IndexMap for RepackMap {
    fn domain(&self) -> Coord {
        at(self.desc.threads, self.desc.steps)
    }

    fn codomain(&self) -> u32 {
        self.lines() * self.pitch
    }

    fn at(&self, point: Coord) -> Option<u32> {
        if point.row >= self.desc.threads || point.column >= self.desc.steps {
            return None;
        }
        let (line, piece) = self.place(point.row, point.column);
        Some(line * self.pitch + piece)
    }

    fn layout(&self) -> Option<Composed> {
        let (RepackDesc { threads, steps }, pieces) = (self.desc, 1 << self.log_pieces);
        let tile = affine(at(pieces, self.lines()), &[(pieces, 1)], &[(self.lines(), self.pitch)])?;
        tile.compose_by(&affine(self.domain(), &[(threads, 1)], &[(steps, threads)])?.layout.into())
            .ok()
    }
}

/// The map (beyond, byte) to one of the 32 bytes of two adjacent accesses. It gives the source of
/// byte `byte` of a piece that begins at byte `beyond`. The result is `beyond + byte`, computed as
/// the kernel computes it: shifts by two words, by one word, and by bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Realignment;

impl Realignment {
    /// Returns the 16 bytes from byte `beyond` on of two adjacent accesses. `beyond` is below 16.
    pub fn realigned(mut words: [u32; 8], beyond: u32) -> [u32; 4] {
        for by in [2, 1] {
            if beyond & (4 * by) != 0 {
                words.copy_within(by as usize.., 0);
            }
        }
        let bits = beyond % 4 * 8;
        core::array::from_fn(|i| {
            ((u64::from(words[i + 1]) << 32 | u64::from(words[i])) >> bits) as u32
        })
    }
}

impl IndexMap for Realignment {
    fn domain(&self) -> Coord {
        at(PIECE as u32, PIECE as u32)
    }

    fn codomain(&self) -> u32 {
        2 * PIECE as u32
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let numbered = core::array::from_fn(|word| {
            u32::from_le_bytes(core::array::from_fn(|byte| (4 * word + byte) as u8))
        });
        let bytes = Self::realigned(numbered, point.row % PIECE as u32).map(u32::to_le_bytes);
        bytes.as_flattened().get(point.column as usize).map(|&byte| u32::from(byte))
    }

    fn layout(&self) -> Option<Composed> {
        affine(self.domain(), &[(PIECE as u32, 1)], &[(PIECE as u32, 1)])
    }
}

impl RepackShapes {
    /// Returns the shapes for `rows` rows of `row_bytes` bytes, which are `stride` bytes apart in
    /// the source and `pitch` bytes apart in the copy. Rows may overlap in the source. `None` if
    /// there is nothing to copy, if rows overlap in the copy, if the pitch is not a multiple of 16,
    /// and beyond 2^62 bytes.
    pub fn new(rows: u64, row_bytes: u64, stride: u64, pitch: u64) -> Option<Self> {
        let (source, copy) =
            (rows.checked_mul(stride)?.checked_add(row_bytes)?, rows.checked_mul(pitch)?);
        let fits = source.max(copy) <= 1 << 62 && pitch.is_multiple_of(PIECE) && pitch >= row_bytes;
        (rows > 0 && row_bytes > 0 && fits).then_some(Self { rows, row_bytes, stride, pitch })
    }

    /// Returns the number of pieces per row.
    pub const fn pieces(&self) -> u64 {
        self.row_bytes.div_ceil(PIECE)
    }

    /// Returns the bytes that the source spans.
    pub const fn source_bytes(&self) -> u64 {
        (self.rows - 1) * self.stride + self.row_bytes
    }

    /// Returns the bytes that the source spans, and the bytes of the copy up to the last written
    /// one.
    pub const fn reach(&self) -> [u64; 2] {
        [self.source_bytes(), (self.rows - 1) * self.pitch + self.pieces() * PIECE]
    }

    /// Returns the number of tiles down and across.
    pub const fn tiles(&self, desc: &RepackDesc) -> (u64, u64) {
        let log = desc.log_pieces(self.pieces());
        (self.rows.div_ceil((desc.tile() >> log) as u64), self.pieces().div_ceil(1 << log))
    }
}

/// The copy of all matrices of a batch, with its addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepackCopy {
    /// The extents of each matrix.
    pub shapes: RepackShapes,
    /// Addresses of the source and of the destination.
    pub addresses: [u64; 2],
    /// The matrices of the batch.
    pub batch: PassBatch,
}

impl RepackCopy {
    /// Returns the number of CTAs; `u64::MAX` if a matrix has too many rows or pieces for 32-bit
    /// indices.
    const fn blocks(&self, desc: &RepackDesc) -> u64 {
        let ((down, across), most) = (self.shapes.tiles(desc), u32::MAX as u64);
        let counts = self.shapes.rows <= most && self.shapes.pieces() <= most;
        if counts {
            down.saturating_mul(across).saturating_mul(self.batch.matrices)
        } else {
            u64::MAX
        }
    }

    const fn params(&self, desc: &RepackDesc) -> RepackCopyParams {
        let RepackShapes { rows, row_bytes, stride, pitch } = self.shapes;
        let ((down, across), pieces) = (self.shapes.tiles(desc), self.shapes.pieces());
        let ([source, destination], [stride_source, stride_copy]) =
            (self.addresses, self.batch.strides_bytes);
        RepackCopyParams {
            source,
            destination,
            stride,
            pitch,
            row_bytes,
            rows: rows as u32,
            pieces: pieces as u32,
            tiles_across: across as u32,
            log_pieces: desc.log_pieces(pieces),
            stride_source,
            stride_copy,
            tiles: (down * across) as u32,
            reserved: 0,
        }
    }
}

impl RepackDesc {
    /// Returns the launch of a copy, and of a second one in the same launch.
    ///
    /// # Errors
    /// [`Refusal`] of too many tiles.
    pub fn launch(&self, one: &RepackCopy, other: Option<&RepackCopy>) -> Result<Launch, Refusal> {
        let blocks = one.blocks(self);
        let of_other = other.map_or(0, |other| other.blocks(self));
        let grid = Grid::with_tiles(blocks.saturating_add(of_other), self.threads, 0)?;
        // Without a second copy, no CTA reads its parameters.
        let copies = [one.params(self), other.unwrap_or(one).params(self)];
        Ok(Launch::new(grid, &RepackParams { copies, blocks: blocks as u32, reserved: 0 }))
    }
}

impl RepackDesc {
    /// Returns the source of the kernel. Fingerprints are for test builds: they cost compile time
    /// and no run time.
    pub fn translation_unit(&self, with_fingerprints: bool) -> TranslationUnit {
        let config = format!(
            "#pragma once\n{}{}struct Config {{\n  static constexpr int kThreads = {};\n  static constexpr int kSteps = {};\n}};\n",
            RepackCopyParams::declaration(),
            RepackParams::declaration(),
            self.threads,
            self.steps
        );
        let mut fingerprints = String::new();
        if with_fingerprints {
            fingerprints.push_str(&fingerprint_assertion(
                "pass::Realignment",
                "realignment",
                &Realignment,
            ));
            for log_pieces in 0..=self.tile().ilog2() {
                let map = RepackMap::new(*self, log_pieces, 3);
                let twin = format!("pass::RepackMap<Config, {log_pieces}, {}>", map.pitch);
                fingerprints.push_str(&fingerprint_assertion(&twin, "repack", &map));
            }
        }
        unit_of("repack", ("RepackParams", "4"), config, &fingerprints)
    }
}
