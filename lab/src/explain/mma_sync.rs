//! The explanation of an `mma.sync` kernel without a producer.

use super::{
    gemm::swapped_fact,
    layouts::{StatedLayout, stated},
};
use falchion::{
    epilogue::tile_store::AccumulatorMap,
    internals::{index::IndexMap, nest::MmaSyncExplanation, shape::OperandKind},
    layout::Order,
    shape::Mnk,
    threadblock::MmaBase,
    warp::mma_sync::{FragmentMap, WarpInstruction},
};

/// Returns the facts of a kernel: their names and their values.
pub(super) fn facts(of: &MmaSyncExplanation) -> Vec<(&'static str, String)> {
    let Mnk { m, n, k } = of.repeats;
    let operand = |side: usize| {
        let how = if of.by_ldmatrix[side] { "by ldmatrix" } else { "element by element" };
        format!("{} bytes at a time from global memory, fragments {how}", of.access_bytes[side])
    };
    let mut facts = vec![
        ("warps", format!("{}: {} threads", of.warps, of.threads)),
        (
            "instruction",
            format!("{}, {m} x {n} of a warp for each of {k} k-blocks", of.instruction),
        ),
        ("registers", format!("about {} of {} a thread", of.registers, of.registers_available)),
        (
            "shared memory",
            format!(
                "{} of {} bytes per CTA: {} stages of {}",
                of.smem_bytes, of.smem_bytes_available, of.stages, of.stage_bytes
            ),
        ),
        ("A", operand(0)),
        ("B", operand(1)),
        ("D", format!("stored {} at a time", of.store_access)),
        ("epilogue", format!("{} in {}", of.epilogue, of.compute.name())),
    ];
    if let Some(term) = of.emulation.term_type() {
        let (terms, products) = (of.emulation.terms(), of.emulation.products().len());
        let made = match terms {
            1 => format!("f32 rounded to {term} in registers"),
            _ => format!(
                "f32 in {terms} terms of {term}, made in registers; {products} products of terms are summed, an instruction each, and promoted after every {} k-blocks",
                of.repeats.k
            ),
        };
        facts.insert(0, ("emulation", made));
    }
    facts.splice(0..0, swapped_fact(of.swapped, Order::Col, false));
    facts
}

/// Returns the maps of fragments and of accumulators.
pub(super) fn layouts(base: &MmaBase, instruction: &WarpInstruction) -> Vec<StatedLayout> {
    let maps = ["(thread, element) to m * k + k", "(thread, element) to n * k + k"];
    let of_operand = |(operand, maps): (OperandKind, _)| {
        let fragment = FragmentMap::new(base.tiles, *instruction, operand);
        stated(format!("fragment of {}", operand.name()), maps, fragment.layout())
    };
    let accumulators = AccumulatorMap(base.tiles).layout();
    let accumulators = stated("accumulators", "(thread, accumulator) to m * N + n", accumulators);
    OperandKind::BOTH.into_iter().zip(maps).map(of_operand).chain([accumulators]).collect()
}
