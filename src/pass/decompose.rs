//! An operand of `f32` decomposed for tensor cores: rows of its parts, side by side, in the caller's workspace.
//!
//! The operand is seen as `mn` x K, whatever its layout: rows of A, or columns of B. Row i of the workspace is
//!
//! ```text
//! [ first parts of row i, K of them | zeros | second parts | zeros | (third parts | zeros) ]
//! ```
//!
//! each padded to a whole number of [`DEPTH`] elements, which are a stage of the product's ring. A *piece* is 8 neighbours along K, 16
//! bytes of each part; a block takes a tile of 64 rows of 8 pieces. Threads of a warp take neighbours along K where the operand is
//! K-major, and neighbouring rows where it is not: either way they read whole lines, and no shared memory is needed.
//!
//! Where rows are scaled ([`EmulationKind::F16x3`]) there are four passes: facts of rows are cleared, the largest magnitudes are found,
//! the parts are written and numbers outside of the window counted, and each row's shift is written for the product's epilogue; the first row
//! that is refused is left in a word of its own.
//!
//! Twin: `kernels/pass/decompose.cuh`.

use crate::words::words;
use crate::{
    call::{DEPTH, DecomposedLayout, Grid, Launch},
    codegen::{
        DecomposeParams, DecomposedLine, TranslationUnit, emulation_fingerprints, emulation_header, fingerprint_assertion,
    },
    numeric::EmulationKind,
    operand::Frame,
    pass::transpose::{Lanes, PieceMap},
    refusal::Refusal,
};
use core::fmt::Write;

/// Neighbours along K of a piece.
pub const PIECE: u32 = 8;

/// Rows of a tile.
pub const TILE: u32 = 64;

/// Pieces of a tile's row.
pub const PIECES: u32 = DEPTH / PIECE;

/// The kernel of a decompose pass, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DecomposeDesc {
    emulation: EmulationKind,
    threads: u32,
}

words! {
    /// What a launch of the kernel does.
    pub enum DecomposePass {
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

impl DecomposePass {
    /// The passes of an emulation, in order.
    pub const fn of(emulation: EmulationKind) -> &'static [Self] {
        if emulation.scales() { &Self::ALL } else { &[Self::Write] }
    }

    /// All of them, as a C++ enumeration.
    fn declaration() -> String {
        let names = Self::ALL.map(|pass| format!("{} = {}", pass.name(), pass as u32)).join(", ");
        format!("enum class DecomposePass : unsigned {{ {names} }};\n")
    }

    /// Whether a thread has a row, and not some pieces.
    pub const fn is_of_rows(self) -> bool {
        matches!(self, Self::Clear | Self::Judge)
    }
}

impl DecomposeDesc {
    /// The kernel of a mode.
    pub const fn of(emulation: EmulationKind) -> Self {
        Self { emulation, threads: 256 }
    }

    /// How f32 is emulated.
    pub const fn emulation(&self) -> EmulationKind {
        self.emulation
    }

    /// Threads of a block.
    pub const fn threads(&self) -> u32 {
        self.threads
    }

    /// Pieces of a thread.
    pub const fn steps(&self) -> u32 {
        TILE * PIECES / self.threads
    }

    /// Which thread decomposes which piece of a tile in which step: threads of a warp take neighbours along K, or rows.
    pub const fn pieces(&self, along_k: bool) -> PieceMap {
        let lanes = if along_k { Lanes::Along } else { Lanes::Across };
        PieceMap { threads: self.threads, lines: TILE, pieces: PIECES, lanes }
    }

    /// Tiles down and across an operand of `mn` rows, or blocks of rows alone.
    pub const fn blocks(&self, layout: &DecomposedLayout, pass: DecomposePass) -> u64 {
        if pass.is_of_rows() {
            return (layout.mn as u64).div_ceil(self.threads as u64);
        }
        (layout.mn as u64).div_ceil(TILE as u64) * (layout.padded() / DEPTH as u64)
    }

    /// What a pass over an operand of `leading`, K-major or not, at `source`, is launched with; the workspace's part is at
    /// `workspace`.
    ///
    /// # Errors
    /// [`Refusal::TooManyTiles`].
    pub fn launch(
        &self,
        layout: &DecomposedLayout,
        (source, leading, along_k): (u64, u64, bool),
        workspace: u64,
        pass: DecomposePass,
    ) -> Result<Launch, Refusal> {
        let tiles = self.blocks(layout, pass);
        let beyond = layout.mn.max(layout.k) as u64 > u64::from(u32::MAX) || layout.padded() > u64::from(u32::MAX);
        let grid = Grid::of_tiles(if beyond { u64::MAX } else { tiles }, self.threads, 0)?;
        let params = DecomposeParams {
            source,
            leading,
            parts: workspace,
            pitch: layout.leading(),
            lines: workspace + layout.lines_offset(),
            status: workspace + layout.status_offset(),
            mn: layout.mn as u32,
            k: layout.k as u32,
            padded: layout.padded() as u32,
            tiles_across: (layout.padded() / u64::from(DEPTH)) as u32,
            along_k: u32::from(along_k),
            vectors: u32::from(source.is_multiple_of(16) && leading.is_multiple_of(4)),
            pass: pass as u32,
            reserved: 0,
        };
        Ok(Launch::new(grid, &params))
    }
}

/// The name of the entry point.
const ENTRY: &str = "decompose";

impl DecomposeDesc {
    /// The text of the kernel. Fingerprints are for test builds; they cost compile time and no run time.
    pub fn translation_unit(&self, with_fingerprints: bool) -> TranslationUnit {
        let mut config = String::from("#pragma once\n");
        config.push_str(&DecomposedLine::declaration());
        config.push_str(&DecomposeParams::declaration());
        config.push_str(&DecomposePass::declaration());
        config.push_str(&emulation_header(self.emulation, Frame::AsGiven));
        config.push_str("struct Config {\n  using Facts = EmulationFacts;\n");
        let facts =
            [("kThreads", self.threads), ("kSteps", self.steps()), ("kTile", TILE), ("kPiece", PIECE), ("kPieces", PIECES)];
        for (fact, value) in facts {
            let _ = writeln!(config, "  static constexpr int {fact} = {value};");
        }
        config.push_str("};\n");
        let mut source = "#include \"config.cuh\"\n#include \"pass/decompose.cuh\"\n".to_owned();
        if with_fingerprints {
            source.push_str(&emulation_fingerprints(self.emulation, Frame::AsGiven));
            for along_k in [false, true] {
                let twin = format!("pass::PieceMap<Config, {along_k}>");
                source.push_str(&fingerprint_assertion(&twin, "pieces", &self.pieces(along_k)));
            }
        }
        let _ = writeln!(
            source,
            "extern \"C\" __global__ void __launch_bounds__(Config::kThreads, 4) {ENTRY}(const __grid_constant__ DecomposeParams params) {{\n  pass::decompose<Config>(params);\n}}"
        );
        TranslationUnit { entry: ENTRY, source, config, headers: &[] }
    }
}
