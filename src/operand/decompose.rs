//! The decompose pass: writes an `f32` operand as rows of 16-bit terms into the caller's workspace,
//! for tensor cores.
//!
//! The operand is seen as an `mn` x K matrix in either layout: rows of A, or columns of B. Row i of
//! the workspace is
//!
//! ```text
//! [ first terms of row i, K of them | zeros | second terms | zeros | (third terms | zeros) ]
//! ```
//!
//! Each term is padded to a multiple of [`DEPTH`] elements, which is the K-depth of a stage of the
//! GEMM's ring. A *piece* is 8 consecutive elements along K, which are 16 bytes of each term. A CTA
//! processes a tile of 64 rows with 8 pieces each. The threads of a warp process consecutive pieces
//! along K if the operand is K-major, and consecutive rows otherwise. In both cases they read whole
//! cache lines, and they need no shared memory.
//!
//! If rows are scaled ([`EmulationKind::F16x3`]), the pass has four steps. The first clears the
//! statistics of the rows, and the second finds their largest magnitudes. The third writes the
//! terms and counts the numbers outside of the window. The fourth writes the shift of each row for
//! the GEMM's epilogue, and stores the number of the first rejected row in a status word.
//!
//! Twin: `kernels/operand/decompose.cuh`.

use crate::{
    codegen::{
        DecomposeParams, DecomposedLine, TranslationUnit, emulation_fingerprints, emulation_header,
        facts::facts, fingerprint_assertion,
    },
    numeric::EmulationKind,
    operand::{
        DEPTH, DecomposedLayout, LINE_BYTES, PassBatch,
        transpose::{Lanes, PieceMap},
        unit_of,
    },
    refusal::Refusal,
    shape::{Frame, words::words},
    threadblock::{Grid, Launch},
};

/// Elements of a piece along K.
pub const PIECE: u32 = 8;

/// Rows per tile.
pub const TILE: u32 = 64;

/// Threads per CTA.
const THREADS: u32 = 256;

/// Pieces per row of a tile.
pub const PIECES: u32 = DEPTH / PIECE;

/// The kernel of a decompose pass, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DecomposeDesc {
    /// How f32 is emulated.
    pub emulation: EmulationKind,
}

words! {
    /// The step that a launch of the kernel performs.
    pub enum DecomposeStep {
        /// Clears the statistics of the rows.
        Clear = "Clear",
        /// Finds the largest magnitude of each row.
        Measure = "Measure",
        /// Writes the terms, and counts the numbers outside of the window.
        Write = "Write",
        /// Checks the rows, and writes their shifts.
        Judge = "Judge",
    }
}

impl DecomposeStep {
    /// Returns the steps of an emulation, in order.
    pub const fn for_emulation(emulation: EmulationKind) -> &'static [Self] {
        if emulation.scales() { &Self::ALL } else { &[Self::Write] }
    }

    /// Returns the declaration of the C++ enumeration of all steps.
    fn declaration() -> String {
        let names = Self::ALL.map(|step| format!("{} = {}", step.name(), step as u32)).join(", ");
        format!("enum class DecomposeStep : unsigned {{ {names} }};\n")
    }

    /// Returns whether each thread processes a row instead of some pieces.
    pub const fn is_of_rows(self) -> bool {
        matches!(self, Self::Clear | Self::Judge)
    }
}

/// The extents and the addresses of an operand and of its terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecomposeShapes {
    /// The layout of the terms of one matrix.
    pub layout: DecomposedLayout,
    /// Address of the operand.
    pub source: u64,
    /// Leading dimension of the operand, in elements.
    pub leading: u64,
    /// Whether the operand is K-major.
    pub along_k: bool,
    /// Address of the terms.
    pub terms: u64,
    /// The matrices of the batch.
    pub batch: PassBatch,
}

impl DecomposeShapes {
    /// Returns the address of the statistics of row `number`. Rows are numbered through the
    /// matrices of the batch.
    pub const fn line(&self, number: u32) -> u64 {
        let (matrix, row) =
            (number as u64 / self.layout.mn as u64, number as u64 % self.layout.mn as u64);
        self.terms
            + matrix * self.batch.strides_bytes[1]
            + self.layout.lines_offset()
            + row * LINE_BYTES
    }

    /// Returns the address of the number of the first rejected row.
    pub const fn status(&self) -> u64 {
        self.terms + self.layout.status_offset()
    }
}

impl DecomposeDesc {
    /// Returns the number of pieces per thread.
    pub const fn steps(&self) -> u32 {
        TILE * PIECES / THREADS
    }

    /// Returns the map from threads and steps to the pieces of a tile. The threads of a warp
    /// process consecutive pieces along K, or consecutive rows.
    pub const fn pieces(&self, along_k: bool) -> PieceMap {
        let lanes = if along_k { Lanes::Along } else { Lanes::Across };
        PieceMap { threads: THREADS, lines: TILE, pieces: PIECES, lanes }
    }

    /// Returns the number of CTAs for one matrix. A step on pieces has one CTA per tile, and a step
    /// on rows has one per 256 rows.
    pub const fn blocks(&self, layout: &DecomposedLayout, step: DecomposeStep) -> u64 {
        if step.is_of_rows() {
            return (layout.mn as u64).div_ceil(THREADS as u64);
        }
        (layout.mn as u64).div_ceil(TILE as u64) * (layout.padded() / DEPTH as u64)
    }

    /// Returns the launch of a step.
    ///
    /// # Errors
    /// [`Refusal`] of too many tiles.
    pub fn launch(&self, shapes: &DecomposeShapes, step: DecomposeStep) -> Result<Launch, Refusal> {
        let DecomposeShapes {
            layout,
            source,
            leading,
            along_k,
            terms,
            batch: PassBatch { matrices, strides_bytes },
        } = *shapes;
        let blocks = self.blocks(&layout, step);
        // The kernel's indices are below 2^32, including the number of a row among all matrices.
        let rows = (layout.mn as u64).saturating_mul(matrices);
        let beyond = rows.max(layout.k as u64).max(layout.padded()) > u64::from(u32::MAX);
        let grid = Grid::with_tiles(
            if beyond { u64::MAX } else { blocks.saturating_mul(matrices) },
            THREADS,
            0,
        )?;
        let [stride_source, stride_terms] = strides_bytes;
        let params = DecomposeParams {
            source,
            leading,
            terms,
            pitch: layout.leading(),
            lines: terms + layout.lines_offset(),
            status: terms + layout.status_offset(),
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
            stride_terms,
        };
        Ok(Launch::new(grid, &params))
    }
}

impl DecomposeDesc {
    /// Returns the source of the kernel. Fingerprints are for test builds: they cost compile time
    /// and no run time.
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
