//! The explanation of an `mma.sync` description.

use crate::{
    nest::{
        GemmDesc,
        explanation::{explanation, lines},
    },
    numeric::{ComputeKind, EmulationKind},
    shape::{Mnk, OperandKind},
    threadblock::MmaBase,
    warp::mma_sync::WordLoad,
};

explanation! {
    /// The derived facts of an `mma.sync` description. Counts are in elements, except in fields
    /// named `bytes`.
    MmaSyncExplanation(d: &GemmDesc, base: &MmaBase) {
        let (tiles, machine) = (&base.tiles, d.arch.machine());
    }
    /// Whether A and B are swapped.
    swapped: bool = d.frame.swapped;
    /// Threads per CTA.
    threads: u32 = tiles.threads();
    /// Warps of a CTA along M, N, and K.
    warps: Mnk = tiles.warps();
    /// Name of the instruction in PTX.
    instruction: String = base.instruction().map_or_else(String::new, |instruction| instruction.mnemonic());
    /// Emulation of f32 in registers, with one instruction per product of terms.
    emulation: EmulationKind = d.emulation();
    /// Instructions per k-block of a warp along M and N, and k-blocks per tile.
    repeats: Mnk = Mnk { m: d.warp().m / d.instruction().m, n: d.warp().n / d.instruction().n, k: base.k_blocks() };
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
    /// Whether `ldmatrix` loads the fragments of A, and of B.
    by_ldmatrix: [bool; 2] = base.operands.map(|operand| WordLoad::for_element(operand.element, operand.smem.along) != WordLoad::Elements);
    /// Bytes per access to A, and to B, in global memory.
    access_bytes: [u32; 2] = OperandKind::BOTH.map(|operand| base.operand(operand).access_bytes());
    /// Elements of D per store of a thread.
    store_access: u32 = base.store_access;
    /// Type in which the epilogue computes.
    compute: ComputeKind = d.output.compute;
    /// Expression of the epilogue.
    epilogue: String = d.epilogue.leave(d.frame).to_string();
    /// Schedule, one line per section.
    schedule: Vec<String> = lines(&base.schedule());
}
