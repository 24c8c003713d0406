//! The C++ of an `mma.sync` kernel without a producer.
//!
//! Twin: `kernels/warp/mma_sync/kernel.cuh`.

use crate::{
    codegen::{emulation_header, fingerprint_assertion, register_fingerprints, transform_structs},
    layout::index_map::{Tabled, at},
    nest::GemmDesc,
    operand::OperandKind,
    threadblock::{MmaBase, mma::program::MOST_READS},
    warp::{
        MmaSyncKnobs, MmaText,
        mma_sync::{WarpInstruction, WordLoad},
    },
};

/// The header with the maps of the kernels.
const HEADERS: &[(&str, &str)] =
    &[("warp/mma_sync/kernel.cuh", include_str!("../../../kernels/warp/mma_sync/kernel.cuh"))];

/// Returns the facts by which fragments of an operand are loaded.
fn operand_facts(
    base: &MmaBase,
    instruction: &WarpInstruction,
    operand: OperandKind,
) -> Vec<(&'static str, String)> {
    let facts = base.operand(operand);
    let load = match WordLoad::for_element(facts.element, facts.smem.along) {
        WordLoad::Matrices => "Matrices",
        WordLoad::Transposed => "Transposed",
        WordLoad::Elements => "Elements",
    };
    vec![
        ("int kInstructionMn", instruction.extent(operand).to_string()),
        ("int kInstructionWords", instruction.words(operand).to_string()),
        ("int kPerWord", instruction.per_word().to_string()),
        ("warp::WordLoad kLoad", format!("warp::WordLoad::{load}")),
    ]
}

/// Returns the fingerprint assertions of what transforms compute from fragments: the values of
/// terms, and the pairs of words that become one word.
fn fingerprints_of_transforms(instruction: &WarpInstruction) -> String {
    let mut text = register_fingerprints(instruction.math().emulation());
    for operand in OperandKind::BOTH {
        let [words, taken] = [instruction.words(operand), instruction.taken_words(operand)];
        if taken == words {
            continue;
        }
        let map = Tabled::by(at(taken, 2), words, |point| {
            Some(instruction.paired(operand, (point.row, point.column)))
        });
        let twin = format!("numeric::WordPairs<{words}, {}>", instruction.extent(operand) / 8);
        text.push_str(&fingerprint_assertion(&twin, "pairs", &map));
    }
    text
}

impl MmaSyncKnobs {
    /// Returns the parts of the translation unit that depend on the MMA, or the default for an
    /// invalid description.
    pub(crate) fn cuda(desc: &GemmDesc, base: &MmaBase) -> MmaText {
        let Some(instruction) = base.instruction() else { return MmaText::default() };
        let math = instruction.math();
        let terms = match math.transforms() {
            true => emulation_header(math.emulation(), desc.frame) + &transform_structs(desc),
            false => String::new(),
        };
        MmaText {
            headers: HEADERS,
            name: "warp::MmaTensorOp<Config>",
            includes: &["warp/mma_sync.cuh"],
            declarations: terms + &instruction.declaration(),
            fingerprints: fingerprints_of_transforms(&instruction),
            operand_facts: OperandKind::BOTH
                .map(|operand| operand_facts(base, &instruction, operand)),
            facts: vec![
                ("using Instruction", "MmaInstruction".to_owned()),
                ("static constexpr int kStep", base.step().to_string()),
                ("static constexpr int kMostReads", MOST_READS.to_string()),
                ("static constexpr int kFragmentsOfB", base.fragments_of_b().to_string()),
            ],
        }
    }
}
