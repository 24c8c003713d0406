//! The explanation of a SIMT description.

use crate::{
    nest::{
        GemmDesc,
        explanation::{explanation, lines},
    },
    numeric::ComputeKind,
    shape::{Mnk, OperandKind},
    threadblock::{MmaBase, StagedOperand},
};

explanation! {
    /// The derived facts of a SIMT description. Counts are in elements, except in fields named
    /// `bytes`.
    SimtExplanation(d: &GemmDesc, base: &MmaBase) {
        let (tiles, lanes, machine) = (&base.tiles, base.tiles.lanes, d.arch.machine());
    }
    /// Whether A and B are swapped.
    swapped: bool = d.frame.swapped;
    /// Threads per CTA.
    threads: u32 = tiles.threads();
    /// Warps of a CTA along M, N, and K.
    warps: Mnk = tiles.warps();
    /// Lanes of a warp along M and N.
    lanes: [u32; 2] = [lanes.m, lanes.n];
    /// Tile of one thread along M and N.
    thread_tile: [u32; 2] = tiles.thread();
    /// Estimated registers that a thread needs.
    registers: u32 = base.registers();
    /// Registers available to a thread.
    registers_available: u32 = d.registers_available(machine.registers_per_sm);
    /// Shared memory per CTA, in bytes.
    smem_bytes: u32 = base.smem_bytes();
    /// Shared memory available to a CTA, in bytes.
    smem_bytes_available: u32 = machine.shared_bytes_each_of(d.limits.blocks_per_sm);
    /// Stages in shared memory.
    stages: u32 = d.stages();
    /// Bytes per stage.
    stage_bytes: u32 = base.stage_bytes();
    /// Bytes of the partial accumulators of warps that share K. They overlap the stages.
    partials_bytes: u32 = base.partials_bytes();
    /// Facts of A and B, in the kernel's frame.
    operands: [OperandExplanation; 2] = OperandKind::BOTH.map(|kind| OperandExplanation::new(kind, &base.operand(kind)));
    /// Elements of D per store of a thread.
    store_access: u32 = base.store_access;
    /// Type in which the epilogue computes.
    compute: ComputeKind = d.output.compute;
    /// Expression of the epilogue.
    epilogue: String = d.epilogue.leave(d.frame).to_string();
    /// Schedule, one line per section.
    schedule: Vec<String> = lines(&base.schedule());
}

explanation! {
    /// The facts of one operand.
    OperandExplanation(kind: OperandKind, operand: &StagedOperand) {}
    /// Name of the operand.
    name: &'static str = kind.name();
    /// Elements per access to global memory.
    access: u32 = operand.access;
    /// Bytes per access to global memory.
    access_bytes: u32 = operand.access_bytes();
    /// Accesses per thread and tile.
    accesses: u32 = operand.thread_map().accesses();
    /// Elements per store, or asynchronous copy, to shared memory.
    shared_access: u32 = operand.shared_access();
    /// Elements per load from shared memory.
    fragment_access: u32 = operand.fragment_access();
    /// Elements from one row of shared memory to the next.
    pitch: u32 = operand.smem.pitch();
}
