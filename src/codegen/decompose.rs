//! What the decomposition of an operand is launched with, and what it leaves behind.

use super::fingerprint_assertion;
use crate::{
    facts::facts,
    index::{Coord, IndexMap, Tabled, affine, at},
    layout::algebra::Composed,
    numeric::{
        EmulationKind,
        emulation::{EmulationBlocks, LineFacts, shift_of},
    },
    operand::{Frame, OperandKind},
};
use core::fmt::Write;

mirrored! {
    /// What is known of a row of A, or a column of B, that is scaled:
    /// [`LineFacts`](crate::numeric::emulation::LineFacts), and its shift.
    DecomposedLine {
        /// The bits of the largest magnitude.
        largest: u32,
        /// Numbers that are not 0.
        nonzero: u32,
        /// Those of them outside of the window.
        outside: u32,
        /// Its numbers are multiplied by two to the power of minus this.
        shift: i32,
    }
}

const _: () = assert!(size_of::<DecomposedLine>() as u64 == crate::call::LINE_BYTES);

impl From<DecomposedLine> for LineFacts {
    fn from(line: DecomposedLine) -> Self {
        Self { largest: line.largest, nonzero: line.nonzero, outside: line.outside }
    }
}

mirrored! {
    /// What a decompose pass is launched with.
    DecomposeParams {
        /// Address of the operand.
        source: u64,
        /// Its leading dimension, in elements.
        leading: u64,
        /// Address of the first row's parts, a multiple of 16.
        parts: u64,
        /// Elements from one row of parts to the next.
        pitch: u64,
        /// Address of the rows' facts.
        lines: u64,
        /// Address of the number of the first row that is refused.
        status: u64,
        /// Rows of A, or columns of B.
        mn: u32,
        /// Length of a row.
        k: u32,
        /// Elements of one part, zeros behind it included.
        padded: u32,
        /// Tiles across a part.
        tiles_across: u32,
        /// Whether the operand is K-major.
        along_k: u32,
        /// Whether rows can be read 16 bytes at a time.
        vectors: u32,
        /// Which step.
        step: u32,
        /// Blocks of a matrix.
        blocks: u32,
        /// Bytes from one matrix of the operand to the next.
        stride_source: u64,
        /// Bytes from one matrix's parts, and the facts of its rows, to the next one's.
        stride_parts: u64,
    }
}

/// Facts of how f32 is emulated, as a C++ struct: the products, four bits for the part of each.
pub(crate) fn emulation_header(emulation: EmulationKind, frame: Frame) -> String {
    let packed = |operand: OperandKind| {
        (0..).zip(emulation.products()).fold(0u32, |packed, (number, product)| {
            packed | product[operand.leave(frame).index()] << (4 * number)
        })
    };
    let own = [
        ("kParts", emulation.parts()),
        ("kProducts", emulation.products().len() as u32),
        ("kPartsOfA", packed(OperandKind::A)),
        ("kPartsOfB", packed(OperandKind::B)),
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
        self.blocks * self.emulation.parts()
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

/// The map (exponent and sign, sample) to a number made of the parts of the sample's number: for
/// the fingerprint of the arithmetic.
///
/// Sample `c` of row `r` is the number whose bits are `r * 2^23` and 23 bits of `c`'s
/// multiplicative hash; its row's largest magnitude has an exponent that is `c` greater, or the
/// greatest. The parts are `p1 + 31 p2 + 961 p3`, modulo 2^20.
fn parts_table(emulation: EmulationKind) -> Tabled {
    // Scaled numbers are finite; of each exponent there are 24 samples.
    Tabled::by(
        at(if emulation.scales() { 0xff } else { 0x200 }, 24),
        1 << 20,
        |Coord { row, column }| {
            let fraction = column.wrapping_mul(0x9e37_79b1) >> 9;
            let largest = ((row & 0xff) + column).min(0xfe) << 23 | fraction;
            let [first, second, third] = emulation
                .parts_of(f32::from_bits(row << 23 | fraction), shift_of(largest))
                .map(u32::from);
            Some((first + 31 * second + 961 * third) & 0xf_ffff)
        },
    )
}

/// The same of the parts that a warp makes in registers, without the bits that tensor cores ignore:
/// `p1 + 31 p2`, and 0 of what is not finite.
fn register_parts_table(emulation: EmulationKind) -> Tabled {
    Tabled::by(at(0x200, 24), 1 << 20, |Coord { row, column }| {
        let fraction = column.wrapping_mul(0x9e37_79b1) >> 9;
        let [first, second] = emulation
            .in_registers_of(f32::from_bits(row << 23 | fraction))
            .map(|part| part.to_bits() >> 13);
        Some(if row & 0xff == 0xff {
            0
        } else {
            first.wrapping_add(second.wrapping_mul(31)) & 0xf_ffff
        })
    })
}

/// The fingerprint of those; nothing where there are none.
pub(crate) fn register_fingerprints(emulation: EmulationKind) -> String {
    match emulation {
        EmulationKind::Tf32x3 => fingerprint_assertion(
            "numeric::Tf32PartsMap",
            "tf32_parts",
            &register_parts_table(emulation),
        ),
        _ => String::new(),
    }
}

/// Blocks of a part whose remapping has a fingerprint.
const REMAPPED: [u32; 3] = [1, 7, 64];

/// Fingerprints of which blocks tiles read, and of the parts of numbers.
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
            "numeric::PartsMap<EmulationFacts>",
            "parts",
            &parts_table(emulation),
        ));
    }
    text
}
