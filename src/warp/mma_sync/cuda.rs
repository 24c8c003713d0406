//! The C++ of an `mma.sync` kernel without a producer.

use crate::{
    arch::WARP,
    codegen::{
        emulation_header, facts::facts, fingerprint_assertion, register_fingerprints,
        transform_structs,
    },
    layout::index_map::{Coord, IndexMap, Map, Tabled, at},
    nest::GemmDesc,
    numeric::ElementKind,
    shape::OperandKind,
    threadblock::{MmaBase, mma::program::Program, smem::Along},
    warp::{
        MirroredMap, MmaSyncKnobs, MmaText,
        mma_sync::{WarpInstruction, WordLoad},
    },
};
use core::fmt::Write;
use std::sync::Arc;

/// Maximum number of points in a map of reads that has a fingerprint. Compilers limit the
/// evaluation of constants.
pub(super) const MOST_READS: u32 = 8192;

/// Returns the facts by which fragments of an operand are loaded.
pub(super) fn operand_members(
    (element, along): (ElementKind, Along),
    instruction: &WarpInstruction,
    operand: OperandKind,
) -> String {
    let load = match WordLoad::for_element(element, along) {
        WordLoad::Matrices => "Matrices",
        WordLoad::Transposed => "Transposed",
        WordLoad::Elements => "Elements",
    };
    let own = [
        ("kInstructionMn", instruction.extent(operand)),
        ("kInstructionWords", instruction.words(operand)),
        ("kPerWord", instruction.per_word()),
    ];
    let mut text = facts("int", &own);
    let _ = writeln!(text, "  static constexpr warp::WordLoad kLoad = warp::WordLoad::{load};");
    text
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
        let own = [
            ("kStep", base.step()),
            ("kMostReads", MOST_READS),
            ("kFragmentsOfB", base.mma.fragments_of_b(base)),
        ];
        MmaText {
            header: "warp/mma_sync.cuh",
            name: "warp::MmaTensorOp<Config>",
            includes: &["warp/mma_sync.cuh"],
            declarations: terms + &instruction.declaration(),
            operands: OperandKind::BOTH.map(|operand| {
                let staged = base.operand(operand);
                operand_members((staged.element, staged.smem.along), &instruction, operand)
            }),
            members: facts("int", &own) + "  using Instruction = MmaInstruction;\n",
        }
    }

    /// Returns the maps that have a C++ twin.
    pub(crate) fn mirrored(program: &Program) -> Vec<MirroredMap> {
        let maps = &program.maps;
        let [fragment_a, fragment_b] = maps.fragment.clone();
        let [rows_a, rows_b] = maps.rows.clone();
        let mut all: Vec<MirroredMap> = vec![
            ("fragment_a", "warp::OperandFragment<Config, Config::A, true>", fragment_a),
            ("fragment_b", "warp::OperandFragment<Config, Config::B, false>", fragment_b),
            ("depth", "warp::StepMap<Config>", maps.depth.clone()),
            ("accumulator", "warp::MmaTensorOp<Config>::AccumulatorMap", maps.accumulator.clone()),
            (
                "reads_a",
                "warp::FragmentReads<Config, Config::A, true>",
                reads(program, OperandKind::A),
            ),
            (
                "reads_b",
                "warp::FragmentReads<Config, Config::B, false>",
                reads(program, OperandKind::B),
            ),
        ];
        all.extend(
            rows_a.map(|rows| ("rows_a", "warp::MatrixLoads<Config, Config::A, true>", rows)),
        );
        all.extend(
            rows_b.map(|rows| ("rows_b", "warp::MatrixLoads<Config, Config::B, false>", rows)),
        );
        all
    }

    /// Returns the fingerprint assertions of transforms.
    pub(crate) fn fingerprints(base: &MmaBase) -> String {
        base.instruction()
            .map_or_else(String::new, |instruction| fingerprints_of_transforms(&instruction))
    }
}

/// The maps that compose to the shared-memory reads of an operand.
pub(super) struct Reads<'m> {
    /// (thread, load or element) of a k-block to `mn * step + k`.
    pub of_k_block: &'m Map,
    /// (thread, k-block) to its first k.
    pub depth: &'m dyn IndexMap,
    /// (mn, k) to an offset in a stage, in elements.
    pub smem: &'m Map,
    /// K extent of a k-block.
    pub step: u32,
}

impl Reads<'_> {
    /// Returns the composed map, limited to the first warps and k-blocks. It maps (thread, k-block
    /// and load or element) to an offset in a stage.
    pub fn map(&self) -> Map {
        let Self { of_k_block, depth, smem, step } = *self;
        let Coord { row: threads, column: each } = of_k_block.domain();
        let offset = |point: Coord| {
            let place = of_k_block.at(at(point.row, point.column % each))?;
            let k = depth.at(at(point.row, point.column / each))?;
            smem.at(at(place / step, k + place % step))
        };
        let threads = threads.min((MOST_READS / each.max(1) / WARP).max(1) * WARP);
        let k_blocks = depth.domain().column;
        let fit = (MOST_READS / (threads * each).max(1)).clamp(1, k_blocks);
        Arc::new(Tabled::by(at(threads, each * fit), smem.codomain(), offset))
    }
}

/// Returns the map of an operand's shared-memory reads.
fn reads(program: &Program, operand: OperandKind) -> Map {
    let (maps, side) = (&program.maps, operand.index());
    let of_k_block = maps.rows[side].as_ref().unwrap_or(&maps.fragment[side]);
    let (depth, smem) = (&*maps.depth, &maps.smem[side]);
    Reads { of_k_block, depth, smem, step: program.base.step() }.map()
}
