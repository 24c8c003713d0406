//! An operand of `f32` decomposed for tensor cores: rows of its parts, side by side, in the
//! caller's workspace.
//!
//! The operand is seen as `mn` x K, whatever its layout: rows of A, or columns of B. Row i of the
//! workspace is
//!
//! ```text
//! [ first parts of row i, K of them | zeros | second parts | zeros | (third parts | zeros) ]
//! ```
//!
//! each padded to a whole number of [`DEPTH`] elements, which are a stage of the product's ring. A
//! *piece* is 8 neighbours along K, 16 bytes of each part; a block takes a tile of 64 rows of 8
//! pieces. Threads of a warp take neighbours along K where the operand is K-major, and neighbouring
//! rows where it is not: either way they read whole lines, and no shared memory is needed.
//!
//! Where rows are scaled ([`EmulationKind::F16x3`]) there are four steps: facts of rows are
//! cleared, the largest magnitudes are found, the parts are written and numbers outside of the
//! window counted, and each row's shift is written for the product's epilogue; the first row that
//! is refused is left in a word of its own.
//!
//! Twin: `kernels/pass/decompose.cuh`.

use super::{PassBatch, unit_of};
use crate::{
    call::{DEPTH, DecomposedLayout, Grid, LINE_BYTES, Launch},
    codegen::{
        DecomposeParams, DecomposedLine, TranslationUnit, emulation_fingerprints, emulation_header,
        fingerprint_assertion,
    },
    facts::facts,
    numeric::EmulationKind,
    operand::Frame,
    pass::transpose::{Lanes, PieceMap},
    refusal::Refusal,
    words::words,
};

/// Neighbours along K of a piece.
pub const PIECE: u32 = 8;

/// Rows of a tile.
pub const TILE: u32 = 64;

/// Threads of a block.
const THREADS: u32 = 256;

/// Pieces of a tile's row.
pub const PIECES: u32 = DEPTH / PIECE;

/// The kernel of a decompose pass, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DecomposeDesc {
    /// How f32 is emulated.
    pub emulation: EmulationKind,
}

words! {
    /// What a launch of the kernel does.
    pub enum DecomposeStep {
        /// Clears facts of rows.
        Clear = "Clear",
        /// Finds each row's largest magnitude.
        Measure = "Measure",
        /// Writes parts, and counts numbers outside of the window.
        Write = "Write",
        /// Judges rows, and writes their shifts.
        Judge = "Judge",
    }
}

impl DecomposeStep {
    /// The steps of an emulation, in order.
    pub const fn of(emulation: EmulationKind) -> &'static [Self] {
        if emulation.scales() { &Self::ALL } else { &[Self::Write] }
    }

    /// All of them, as a C++ enumeration.
    fn declaration() -> String {
        let names = Self::ALL.map(|step| format!("{} = {}", step.name(), step as u32)).join(", ");
        format!("enum class DecomposeStep : unsigned {{ {names} }};\n")
    }

    /// Whether a thread has a row, and not some pieces.
    pub const fn is_of_rows(self) -> bool {
        matches!(self, Self::Clear | Self::Judge)
    }
}

/// What is decomposed, and where its parts go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecomposeShapes {
    /// The room of a matrix's parts.
    pub layout: DecomposedLayout,
    /// Address of the operand.
    pub source: u64,
    /// Its leading dimension, in elements.
    pub leading: u64,
    /// Whether it is K-major.
    pub along_k: bool,
    /// Address of the parts.
    pub parts: u64,
    /// Matrices of such rows.
    pub batch: PassBatch,
}

impl DecomposeShapes {
    /// Where the facts of row `number` lie, rows of a batch numbered one matrix behind the other.
    pub const fn line(&self, number: u32) -> u64 {
        let (matrix, row) =
            (number as u64 / self.layout.mn as u64, number as u64 % self.layout.mn as u64);
        self.parts
            + matrix * self.batch.strides_bytes[1]
            + self.layout.lines_offset()
            + row * LINE_BYTES
    }

    /// Where the number of the first row that is refused lies.
    pub const fn status(&self) -> u64 {
        self.parts + self.layout.status_offset()
    }
}

impl DecomposeDesc {
    /// Pieces of a thread.
    pub const fn steps(&self) -> u32 {
        TILE * PIECES / THREADS
    }

    /// Which thread decomposes which piece of a tile in which step: threads of a warp take
    /// neighbours along K, or rows.
    pub const fn pieces(&self, along_k: bool) -> PieceMap {
        let lanes = if along_k { Lanes::Along } else { Lanes::Across };
        PieceMap { threads: THREADS, lines: TILE, pieces: PIECES, lanes }
    }

    /// Tiles down and across an operand of `mn` rows, or blocks of rows alone.
    pub const fn blocks(&self, layout: &DecomposedLayout, step: DecomposeStep) -> u64 {
        if step.is_of_rows() {
            return (layout.mn as u64).div_ceil(THREADS as u64);
        }
        (layout.mn as u64).div_ceil(TILE as u64) * (layout.padded() / DEPTH as u64)
    }

    /// What a step is launched with.
    ///
    /// # Errors
    /// [`Refusal::TooManyTiles`].
    pub fn launch(&self, shapes: &DecomposeShapes, step: DecomposeStep) -> Result<Launch, Refusal> {
        let DecomposeShapes {
            layout,
            source,
            leading,
            along_k,
            parts,
            batch: PassBatch { matrices, strides_bytes },
        } = *shapes;
        let blocks = self.blocks(&layout, step);
        // The kernel's numbers are below 2^32, that of a row among those of all matrices, too.
        let rows = (layout.mn as u64).saturating_mul(matrices);
        let beyond = rows.max(layout.k as u64).max(layout.padded()) > u64::from(u32::MAX);
        let grid = Grid::of_tiles(
            if beyond { u64::MAX } else { blocks.saturating_mul(matrices) },
            THREADS,
            0,
        )?;
        let [stride_source, stride_parts] = strides_bytes;
        let params = DecomposeParams {
            source,
            leading,
            parts,
            pitch: layout.leading(),
            lines: parts + layout.lines_offset(),
            status: parts + layout.status_offset(),
            mn: layout.mn as u32,
            k: layout.k as u32,
            padded: layout.padded() as u32,
            tiles_across: (layout.padded() / u64::from(DEPTH)) as u32,
            along_k: u32::from(along_k),
            vectors: u32::from(
                (source | stride_source).is_multiple_of(16) && leading.is_multiple_of(4),
            ),
            step: step as u32,
            blocks: blocks as u32,
            stride_source,
            stride_parts,
        };
        Ok(Launch::new(grid, &params))
    }
}

impl DecomposeDesc {
    /// The text of the kernel. Fingerprints are for test builds; they cost compile time and no run
    /// time.
    pub fn translation_unit(&self, with_fingerprints: bool) -> TranslationUnit {
        let mut config = String::from("#pragma once\n");
        config.push_str(&DecomposedLine::declaration());
        config.push_str(&DecomposeParams::declaration());
        config.push_str(&DecomposeStep::declaration());
        config.push_str(&emulation_header(self.emulation, Frame::USER));
        config.push_str("struct Config {\n  using Facts = EmulationFacts;\n");
        let own = [
            ("kThreads", THREADS),
            ("kSteps", self.steps()),
            ("kTile", TILE),
            ("kPiece", PIECE),
            ("kPieces", PIECES),
        ];
        config.push_str(&facts("int", &own));
        config.push_str("};\n");
        let mut fingerprints = String::new();
        if with_fingerprints {
            fingerprints.push_str(&emulation_fingerprints(self.emulation, Frame::USER));
            for along_k in [false, true] {
                let twin = format!("pass::PieceMap<Config, {along_k}>");
                fingerprints.push_str(&fingerprint_assertion(
                    &twin,
                    "pieces",
                    &self.pieces(along_k),
                ));
            }
        }
        unit_of("decompose", ("DecomposeParams", "4"), config, &fingerprints)
    }
}
