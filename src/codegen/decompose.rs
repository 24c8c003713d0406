//! Parameters and results of the pass that decomposes an f32 operand into terms of a narrower type.

use super::fingerprint_assertion;
use crate::{
    codegen::facts::facts,
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, Tabled, affine, at},
    },
    numeric::{
        EmulationKind,
        emulation::{EmulationBlocks, LineFacts, shift_of},
    },
    shape::{Frame, OperandKind},
};
use core::fmt::Write;

mirrored! {
    /// Statistics and shift of a scaled row of A or column of B. See
    /// [`LineFacts`](crate::numeric::emulation::LineFacts).
    DecomposedLine {
        /// Bits of the largest magnitude.
        largest: u32,
        /// Count of nonzero numbers.
        nonzero: u32,
        /// Count of nonzero numbers outside the exponent window.
        outside: u32,
        /// Shift: the numbers are multiplied by two to the power of `-shift`.
        shift: i32,
    }
}

const _: () = assert!(size_of::<DecomposedLine>() as u64 == crate::operand::LINE_BYTES);

impl From<DecomposedLine> for LineFacts {
    fn from(line: DecomposedLine) -> Self {
        Self { largest: line.largest, nonzero: line.nonzero, outside: line.outside }
    }
}

mirrored! {
    /// Parameters of a decompose pass.
    DecomposeParams {
        /// Address of the operand.
        source: u64,
        /// Leading dimension of the operand, in elements.
        leading: u64,
        /// Address of the terms of the first row, a multiple of 16.
        terms: u64,
        /// Elements from one row of terms to the next.
        pitch: u64,
        /// Address of the statistics of the rows.
        lines: u64,
        /// Address of the index of the first refused row.
        status: u64,
        /// Rows of A, or columns of B.
        mn: u32,
        /// Length of a row.
        k: u32,
        /// Elements of one term of a row, including the zero padding.
        padded: u32,
        /// Number of tiles across a term.
        tiles_across: u32,
        /// Whether the operand is K-major.
        along_k: u32,
        /// Whether rows can be read 16 bytes at a time.
        vectors: u32,
        /// Step of the pass, a value of `DecomposeStep`.
        step: u32,
        /// Thread blocks per matrix.
        blocks: u32,
        /// Bytes from one matrix of the operand to the next.
        stride_source: u64,
        /// Bytes from one matrix's terms and statistics to those of the next matrix.
        stride_terms: u64,
    }
}

/// Returns the facts of an emulation as a C++ struct. The products are packed with four bits for
/// the term of each.
pub(crate) fn emulation_header(emulation: EmulationKind, frame: Frame) -> String {
    let packed = |operand: OperandKind| {
        (0..).zip(emulation.products()).fold(0u32, |packed, (number, product)| {
            packed | product[operand.leave(frame).index()] << (4 * number)
        })
    };
    let own = [
        ("kTerms", emulation.terms()),
        ("kProducts", emulation.products().len() as u32),
        ("kTermsOfA", packed(OperandKind::A)),
        ("kTermsOfB", packed(OperandKind::B)),
        ("kTop", EmulationKind::TOP as u32),
        ("kWindow", EmulationKind::WINDOW),
        ("kFew", EmulationKind::FEW),
    ];
    let mut text = String::from("struct EmulationFacts {\n");
    text.push_str(&facts("unsigned", &own));
    let _ = writeln!(text, "  static constexpr bool kScales = {};\n}};", emulation.scales());
    text
}

impl IndexMap for EmulationBlocks {
    fn domain(&self) -> Coord {
        at(2, self.tiles())
    }

    fn codomain(&self) -> u32 {
        self.blocks * self.emulation.terms()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let operand = *OperandKind::BOTH.get(point.row as usize)?;
        (point.column < self.tiles()).then(|| self.block(operand, point.column))
    }

    fn layout(&self) -> Option<Composed> {
        if self.emulation.decomposes() {
            None
        } else {
            affine(self.domain(), &[(2, 0)], &[(self.blocks, 1)])
        }
    }
}

/// Returns the map (exponent and sign, sample) to a hash of a sample's terms, for the fingerprint
/// of the arithmetic.
///
/// Sample `c` of row `r` is the number whose bits are `r * 2^23` plus 23 bits of the multiplicative
/// hash of `c`. The exponent of its row's largest magnitude is larger by `c`, up to the maximum.
/// The value is `p1 + 31 p2 + 961 p3`, modulo 2^20, where `p1`, `p2`, and `p3` are the bits of the
/// terms.
fn terms_table(emulation: EmulationKind) -> Tabled {
    // Scaled numbers are finite and positive. Each exponent has 24 samples.
    Tabled::by(
        at(if emulation.scales() { 0xff } else { 0x200 }, 24),
        1 << 20,
        |Coord { row, column }| {
            let fraction = column.wrapping_mul(0x9e37_79b1) >> 9;
            let largest = ((row & 0xff) + column).min(0xfe) << 23 | fraction;
            let [first, second, third] = emulation
                .decompose(f32::from_bits(row << 23 | fraction), shift_of(largest))
                .map(u32::from);
            Some((first + 31 * second + 961 * third) & 0xf_ffff)
        },
    )
}

/// Returns the map (exponent and sign, sample) to a hash of the terms that a warp makes in
/// registers. The value is `p1 + 31 p2` without the bits that tensor cores ignore, and 0 if not
/// finite.
fn register_terms_table(emulation: EmulationKind) -> Tabled {
    Tabled::by(at(0x200, 24), 1 << 20, |Coord { row, column }| {
        let fraction = column.wrapping_mul(0x9e37_79b1) >> 9;
        let [first, second] = emulation
            .in_registers_of(f32::from_bits(row << 23 | fraction))
            .map(|term| term.to_bits() >> 13);
        Some(if row & 0xff == 0xff {
            0
        } else {
            first.wrapping_add(second.wrapping_mul(31)) & 0xf_ffff
        })
    })
}

/// Returns the fingerprint assertion of the terms made in registers, or an empty text without them.
pub(crate) fn register_fingerprints(emulation: EmulationKind) -> String {
    match emulation {
        EmulationKind::Tf32x3 => fingerprint_assertion(
            "numeric::Tf32TermsMap",
            "tf32_terms",
            &register_terms_table(emulation),
        ),
        _ => String::new(),
    }
}

/// Blocks per term at which the remapping has a fingerprint.
const REMAPPED: [u32; 3] = [1, 7, 64];

/// Returns the fingerprint assertions of the blocks that tiles read, and of the terms of numbers.
pub(crate) fn emulation_fingerprints(emulation: EmulationKind, frame: Frame) -> String {
    let mut text = String::new();
    for blocks in REMAPPED {
        let twin = format!("numeric::EmulationBlocks<EmulationFacts, {blocks}>");
        text.push_str(&fingerprint_assertion(
            &twin,
            "blocks",
            &EmulationBlocks { emulation, frame, blocks },
        ));
    }
    if emulation.decomposes() {
        text.push_str(&fingerprint_assertion(
            "numeric::TermsMap<EmulationFacts>",
            "terms",
            &terms_table(emulation),
        ));
    }
    text
}
