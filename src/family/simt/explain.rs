//! What follows from a description whose threads all follow one schedule.

use crate::{
    desc::SimtDesc,
    family::explain::{explanation, lines},
    numeric::ComputeKind,
    operand::OperandKind,
    shape::Mnk,
    threadblock::{MmaBase, OperandDesc},
};

explanation! {
    /// The facts that follow from a description on the CUDA cores. Counts are in elements unless
    /// they say bytes.
    SimtExplanation(d: &SimtDesc, base: &MmaBase) {
        let (tiles, lanes, machine) = (&base.tiles, base.tiles.lanes, d.class.arch.machine());
    }
    /// Whether A and B change places, so that D is row-major.
    exchanged: bool = d.frame.swapped;
    /// Threads of a block.
    threads: u32 = tiles.threads();
    /// Warps of a block, along M, N and K.
    warps: Mnk = tiles.warps();
    /// Lanes of a warp, along M and N.
    lanes: [u32; 2] = [lanes.m, lanes.n];
    /// What a thread computes, along M and N.
    thread_tile: [u32; 2] = tiles.thread();
    /// Registers a thread needs, estimated.
    registers: u32 = base.registers();
    /// Registers a thread can have.
    registers_available: u32 = d.registers_available(machine.registers_per_sm);
    /// Shared memory of a block.
    smem_bytes: u32 = base.smem_bytes();
    /// Shared memory that a block can have.
    smem_bytes_available: u32 = machine.shared_bytes_each_of(d.knobs.blocks_per_sm);
    /// Stages in it.
    stages: u32 = d.knobs.stages;
    /// Bytes of one stage.
    stage_bytes: u32 = base.stage_bytes();
    /// Bytes of the partial accumulators of slices of K, which overlap the stages.
    partials_bytes: u32 = base.partials_bytes();
    /// A and B as the kernel sees them.
    operands: [OperandExplanation; 2] = OperandKind::BOTH.map(|kind| OperandExplanation::of(kind, &base.operand(kind)));
    /// Elements of D that a thread stores at once.
    store_access: u32 = base.store_access;
    /// What the epilogue computes in.
    compute: ComputeKind = d.class.compute;
    /// The epilogue.
    epilogue: String = d.class.output.epilogue.leave(d.frame).to_string();
    /// The order of steps, a line for each section.
    schedule: Vec<String> = lines(&base.schedule());
}

explanation! {
    /// The facts about one operand.
    OperandExplanation(kind: OperandKind, operand: &OperandDesc) {}
    /// Its name.
    name: &'static str = kind.name();
    /// Elements of one access to global memory.
    access: u32 = operand.access;
    /// The same in bytes.
    access_bytes: u32 = operand.access_bytes();
    /// Accesses of a thread for one tile.
    accesses: u32 = operand.thread_map().accesses();
    /// Elements of one store, or asynchronous copy, to shared memory.
    shared_access: u32 = operand.shared_access();
    /// Elements of one load from shared memory.
    fragment_access: u32 = operand.fragment_access();
    /// From one row of shared memory to the next.
    pitch: u32 = operand.smem.pitch();
}
