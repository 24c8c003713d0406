//! The `mma.sync` family: tensor cores of Turing, Ampere, and Ada, and of Hopper for f64.
//!
//! Tiles arrive as in the SIMT family, through registers or by `cp.async` in stages, whichever
//! index is contiguous. No tile is transposed on the way. `ldmatrix` loads fragments if it supports
//! their type and layout.
//!
//! Twin: `kernels/warp/mma_sync/kernel.cuh`.

use crate::{
    arch::OpKind,
    codegen::{emulation_header, fingerprint_assertion, register_fingerprints},
    index::{Tabled, at},
    nest::{
        GemmDesc,
        features::{Exchange, Features, Reduced, products_of_a_microsecond},
        plan::Plan,
    },
    numeric::{ElementKind, EmulationKind},
    operand::OperandKind,
    refusal::Refusal,
    shape::at_least_one,
    threadblock::{
        MmaBase,
        mma::{
            kernel::{self, Costs, OneSchedulePlan},
            program::MOST_READS,
        },
    },
    warp::mma_sync::{WarpInstruction, WordLoad, explain::MmaSyncExplanation},
};
use std::sync::Arc;

/// The header with the maps of the family's kernels.
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

/// Returns the fingerprint assertions of the terms that are made from fragments: their values, and
/// their words.
fn fingerprints_of_slices(instruction: &WarpInstruction) -> String {
    let emulation = instruction.math().emulation();
    let mut text = register_fingerprints(emulation);
    for operand in
        OperandKind::BOTH.into_iter().filter(|_| matches!(emulation, EmulationKind::Bf16x1))
    {
        let [words, taken] = [instruction.words(operand), instruction.taken_words(operand)];
        let map = Tabled::by(at(taken, 2), words, |point| {
            Some(instruction.paired(operand, (point.row, point.column)))
        });
        let twin = format!("numeric::Bf16Pairs<{words}, {}>", instruction.extent(operand) / 8);
        text.push_str(&fingerprint_assertion(&twin, "pairs", &map));
    }
    text
}

impl GemmDesc {
    pub(crate) fn planned_mma_sync(self) -> Result<Arc<dyn Plan>, Refusal> {
        let (base, instruction) = (self.base(), self.instruction_mma_sync()?);
        Ok(Arc::new(OneSchedulePlan {
            desc: self,
            base,
            headers: HEADERS,
            warp_mma: "warp::MmaTensorOp<Config>",
            includes: &["warp/mma_sync.cuh"],
            declarations: self.term_facts_mma_sync() + &instruction.declaration(),
            fingerprints: fingerprints_of_slices(&instruction),
            of_operands: OperandKind::BOTH
                .map(|operand| operand_facts(&base, &instruction, operand)),
            facts: vec![
                ("using Instruction", "MmaInstruction".to_owned()),
                ("static constexpr int kStep", base.step().to_string()),
                ("static constexpr int kMostReads", MOST_READS.to_string()),
                ("static constexpr int kFragmentsOfB", base.fragments_of_b().to_string()),
            ],
            blocks_per_sm: self.limits.blocks_per_sm,
            registers: self.registers_mma_sync(&base),
        }))
    }

    /// Returns the facts of an emulation in registers, or an empty text.
    fn term_facts_mma_sync(&self) -> String {
        let emulation = self.emulation();
        if emulation.in_registers() {
            emulation_header(emulation, self.frame)
        } else {
            String::new()
        }
    }

    pub(crate) fn explained_mma_sync(&self) -> Result<MmaSyncExplanation, Refusal> {
        Ok(MmaSyncExplanation::new(self, &self.base()))
    }

    /// Returns the facts for the cost model, as in the SIMT family, but in multiply-adds of tensor
    /// cores, with copies added.
    ///
    /// For f64, the constants are fitted on an H200. Its instruction takes equally long however its
    /// operands arrive, and waits little (`lab/data/trials.csv`, log `f64_few_tiles`). For other
    /// types, they are fitted to `lab/data/trials.csv`, log `odd_in_place`, on an H100. There, a
    /// multiply-add takes 3.8 times as long as with `wgmma`, and 5.4 times for tf32; prologues and
    /// epilogues take as long. Narrower copies take longer. Copies through registers double the
    /// time and add latency.
    pub(crate) const fn features_mma_sync(&self) -> Features {
        const COPIES: u64 = 28;
        const WIDEST: u64 = 16;
        let base = self.base();
        let (registers, tile) = (self.registers_mma_sync(&base), base.tiles.block);
        let (products, lines) = (tile.m as u64 * tile.n as u64, tile.m as u64 + tile.n as u64);
        let more = if self.emulation().in_registers() {
            self.emulation().products().len() as u64 - 1
        } else {
            0
        };
        let element = self.operands[0].stored;
        if matches!(element, ElementKind::F64) {
            let features = kernel::features(&base, registers, products * 11 / 10 + 3 * lines);
            return Features { latency: 1600.0, ..features };
        }
        let features = kernel::features(
            &base,
            registers,
            kernel::step(&base, Costs::OF_OTHERS) + COPIES * lines + more * products,
        );
        if more > 0 {
            return features;
        }
        let narrower = if self.operands[0].access < self.operands[1].access {
            self.operands[0].access
        } else {
            self.operands[1].access
        };
        let tenths = if element.bits() > 16 { 54 } else { 38 };
        let each = products * tenths / 10
            + 17 * lines * WIDEST / at_least_one(element.bytes_of(narrower)) as u64;
        let (each, latency) = if self.mainloop.copies_asynchronously() {
            (each, 8000.0)
        } else {
            (2 * each, 64_000.0)
        };
        // As with `wgmma`; the loads of slots overlap with it.
        let unit = products_of_a_microsecond(OpKind::TensorOp, element) as f64;
        let apart = Reduced::new(kernel::slot_bytes(&base), kernel::APART, unit);
        let exchange = Exchange::Workspace {
            begun: 2.5 * unit,
            stored: 0.3 * unit,
            added: 0.8 * unit,
            brought: 0.0,
            apart,
        };
        let ends = (2600 * products) as f64;
        Features {
            each: each as f64,
            latency,
            not_hidden: ends,
            further: [ends; 2],
            exchange,
            ..features
        }
    }
}
