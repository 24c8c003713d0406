//! What a split of an operand is launched with, and what it leaves behind.

use super::fingerprint_assertion;
use crate::numeric::{
    SplitKind,
    split::{LineFacts, PartsMap, SplitBlocks},
};
use core::fmt::Write;

mirrored! {
    /// What is known of a row of A, or a column of B, that is scaled: [`LineFacts`](crate::numeric::split::LineFacts), and its shift.
    SplitLine {
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

const _: () = assert!(size_of::<SplitLine>() as u64 == crate::call::LINE_BYTES);

impl From<SplitLine> for LineFacts {
    fn from(line: SplitLine) -> Self {
        Self { largest: line.largest, nonzero: line.nonzero, outside: line.outside }
    }
}

mirrored! {
    /// What a pass of a split is launched with.
    SplitParams {
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
        /// Whether the operand is contiguous along K.
        along_k: u32,
        /// Whether rows can be read 16 bytes at a time.
        vectors: u32,
        /// Which pass.
        pass: u32,
        /// Makes the size a multiple of 8 bytes.
        reserved: u32,
    }
}

/// Facts of how factors are split, as a C++ struct: the products, four bits for the part of each.
pub(crate) fn split_header(split: SplitKind, exchanged: bool) -> String {
    let packed = |operand: usize| {
        (0..)
            .zip(split.products())
            .fold(0u32, |packed, (number, product)| packed | product[operand ^ usize::from(exchanged)] << (4 * number))
    };
    let facts = [
        ("kParts", split.parts()),
        ("kProducts", split.products().len() as u32),
        ("kPartsOfA", packed(0)),
        ("kPartsOfB", packed(1)),
        ("kTop", SplitKind::TOP as u32),
        ("kWindow", SplitKind::WINDOW),
        ("kFew", SplitKind::FEW),
    ];
    let mut text = String::from("struct SplitFacts {\n");
    for (fact, value) in facts {
        let _ = writeln!(text, "  static constexpr unsigned {fact} = {value};");
    }
    let _ = writeln!(text, "  static constexpr bool kScales = {};\n}};", split.scales());
    text
}

/// Blocks of a part whose remapping has a fingerprint.
const REMAPPED: [u32; 3] = [1, 7, 64];

/// Fingerprints of which blocks tiles read, and of the parts of numbers.
pub(crate) fn split_fingerprints(split: SplitKind, exchanged: bool) -> String {
    let mut text = String::new();
    for blocks in REMAPPED {
        let twin = format!("numeric::SplitBlocks<SplitFacts, {blocks}>");
        text.push_str(&fingerprint_assertion(&twin, "blocks", &SplitBlocks { split, exchanged, blocks }));
    }
    if split.splits() {
        text.push_str(&fingerprint_assertion("numeric::PartsMap<SplitFacts>", "parts", &PartsMap(split)));
    }
    text
}
