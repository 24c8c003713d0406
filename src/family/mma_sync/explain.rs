//! What follows from a description whose warps multiply by `mma.sync`.

use crate::{
    desc::MmaSyncDesc,
    family::explain::{explanation, lines},
    numeric::{ComputeKind, EmulationKind},
    operand::OperandKind,
    shape::Mnk,
    threadblock::MmaBase,
    warp::mma_tensor_op::WordLoad,
};

explanation! {
    /// The facts that follow from a description on the tensor cores of one warp. Counts are in
    /// elements unless they say bytes.
    MmaSyncExplanation(d: &MmaSyncDesc, base: &MmaBase) {
        let (tiles, machine) = (&base.tiles, d.class.arch.machine());
    }
    /// Whether A and B change places, so that D is row-major.
    exchanged: bool = d.frame.swapped;
    /// Threads of a block.
    threads: u32 = tiles.threads();
    /// Warps of a block, along M, N and K.
    warps: Mnk = tiles.warps();
    /// The instruction, as PTX names it.
    instruction: String = base.instruction.map_or_else(String::new, |instruction| instruction.mnemonic());
    /// How f32 is emulated, in registers: an instruction for each product of parts.
    emulation: EmulationKind = d.knobs.emulation;
    /// Instructions of a k-block of a warp, along M and N, and k-blocks of its tile.
    repeats: Mnk = Mnk { m: d.knobs.warp.m / d.knobs.instruction.m, n: d.knobs.warp.n / d.knobs.instruction.n, k: base.k_blocks() };
    /// Registers a thread needs, estimated.
    registers: u32 = d.registers(base);
    /// Registers a thread can have.
    registers_available: u32 = d.registers_available(base, machine.registers_per_sm);
    /// Shared memory of a block.
    smem_bytes: u32 = base.smem_bytes();
    /// Shared memory that a block can have.
    smem_bytes_available: u32 = machine.shared_bytes_each_of(d.knobs.blocks_per_sm);
    /// Stages in it.
    stages: u32 = d.knobs.stages;
    /// Bytes of one stage.
    stage_bytes: u32 = base.stage_bytes();
    /// Whether fragments of A, and of B, come by `ldmatrix`.
    by_ldmatrix: [bool; 2] = base.operands.map(|operand| WordLoad::of(operand.element, operand.smem.along) != WordLoad::Elements);
    /// Bytes of one access to A, and to B, in global memory.
    access_bytes: [u32; 2] = OperandKind::BOTH.map(|operand| base.operand(operand).access_bytes());
    /// Elements of D that a thread stores at once.
    store_access: u32 = base.store_access;
    /// What the epilogue computes in.
    compute: ComputeKind = d.class.compute;
    /// The epilogue.
    epilogue: String = d.class.output.epilogue.leave(d.frame).to_string();
    /// The order of steps, a line for each section.
    schedule: Vec<String> = lines(&base.schedule());
}
