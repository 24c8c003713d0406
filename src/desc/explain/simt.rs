//! What follows from a description whose threads all follow one schedule.

use super::lines;
use crate::{desc::SimtDesc, numeric::ComputeKind, operand::OperandKind, schedule::Schedule, shape::Mnk};

/// The facts that follow from a description on the CUDA cores. Counts are in elements unless they say bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SimtExplanation {
    /// Whether A and B change places, so that D is row-major.
    pub exchanged: bool,
    /// Threads of a block.
    pub threads: u32,
    /// Warps of a block, along M, N and K.
    pub warps: Mnk,
    /// Lanes of a warp, along M and N.
    pub lanes: [u32; 2],
    /// What a thread computes, along M and N.
    pub thread_tile: [u32; 2],
    /// Registers a thread needs, estimated.
    pub registers: u32,
    /// Registers a thread can have.
    pub registers_available: u32,
    /// Shared memory of a block.
    pub smem_bytes: u32,
    /// Shared memory that a block can have.
    pub smem_bytes_available: u32,
    /// The part of it that one stage takes.
    pub stage_bytes: u32,
    /// The part of it in which slices of K hand over their sums.
    pub deposit_bytes: u32,
    /// A and B as the kernel sees them.
    pub operands: [OperandExplanation; 2],
    /// Elements of D that a thread stores at once.
    pub store_access: u32,
    /// What the epilogue computes in.
    pub compute: ComputeKind,
    /// The epilogue.
    pub epilogue: String,
    /// The order of steps, a line for each section.
    pub schedule: Vec<String>,
}

/// The facts about one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OperandExplanation {
    /// Its name.
    pub name: &'static str,
    /// Elements of one access to global memory.
    pub access: u32,
    /// The same in bytes.
    pub access_bytes: u32,
    /// Accesses of a thread for one tile.
    pub accesses: u32,
    /// Elements of one store, or asynchronous copy, to shared memory.
    pub shared_access: u32,
    /// Elements of one load from shared memory.
    pub fragment_access: u32,
    /// From one row of shared memory to the next.
    pub pitch: u32,
}

impl SimtExplanation {
    pub(super) fn of(d: &SimtDesc) -> Self {
        let (lanes, machine) = (d.lanes(), d.class.arch.machine());
        let operands = OperandKind::BOTH.map(|kind| {
            let operand = d.operand(kind);
            OperandExplanation {
                name: kind.name(),
                access: operand.access,
                access_bytes: operand.access_bytes(),
                accesses: operand.thread_map().accesses(),
                shared_access: operand.shared_access(),
                fragment_access: operand.fragment_access(),
                pitch: operand.smem.pitch(),
            }
        });
        Self {
            exchanged: d.frame.is_exchanged(),
            threads: d.threads(),
            warps: d.warps(),
            lanes: [lanes.m, lanes.n],
            thread_tile: [d.knobs.warp.m / lanes.m, d.knobs.warp.n / lanes.n],
            registers: d.registers(),
            registers_available: d.registers_available(machine.registers_per_sm),
            smem_bytes: d.smem_bytes(),
            smem_bytes_available: machine.shared_bytes_each_of(d.knobs.blocks_per_sm),
            stage_bytes: d.stage_bytes(),
            deposit_bytes: d.deposit_bytes(),
            operands,
            store_access: d.store_access(),
            compute: d.class.compute,
            epilogue: d.class.output.epilogue.to_string(),
            schedule: lines(&Schedule::of(d)),
        }
    }
}
