//! The explanation of a SIMT kernel without a producer.

use super::gemm::swapped_fact;
use falchion::{
    internals::nest::{OperandExplanation, SimtExplanation},
    layout::Order,
};

/// Returns the facts of a kernel: their names and their values.
pub(super) fn facts(of: &SimtExplanation) -> Vec<(&'static str, String)> {
    let [a, b] = &of.operands;
    let [lanes_m, lanes_n] = of.lanes;
    let [tile_m, tile_n] = of.thread_tile;
    let mut facts = vec![
        (
            "warps",
            format!("{} of 32 lanes, {lanes_m} x {lanes_n}: {} threads", of.warps, of.threads),
        ),
        ("thread tile", format!("{tile_m} x {tile_n}")),
        ("registers", format!("about {} of {} a thread", of.registers, of.registers_available)),
        ("shared memory", simt_shared_memory(of)),
        ("A", operand(a)),
        ("B", operand(b)),
        ("D", format!("stored {} at a time", of.store_access)),
        ("epilogue", format!("{} in {}", of.epilogue, of.compute.name())),
    ];
    facts.splice(0..0, swapped_fact(of.swapped, Order::Col, false));
    facts
}

fn simt_shared_memory(of: &SimtExplanation) -> String {
    let &SimtExplanation {
        smem_bytes,
        smem_bytes_available,
        stages,
        stage_bytes,
        partials_bytes,
        ..
    } = of;
    let partials = if partials_bytes > 0 {
        format!("; the reduction of warp slices then uses {partials_bytes} of the same bytes")
    } else {
        String::new()
    };
    format!(
        "{smem_bytes} of {smem_bytes_available} bytes per CTA: {stages} stages of {stage_bytes}{partials}"
    )
}

fn operand(of: &OperandExplanation) -> String {
    format!(
        "{} x {} ({} bytes) a thread from global memory, {} at a time into rows of {} in shared memory, {} at a time out",
        of.accesses, of.access, of.access_bytes, of.shared_access, of.pitch, of.fragment_access
    )
}
