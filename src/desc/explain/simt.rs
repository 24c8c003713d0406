//! What follows from a description whose threads all follow one schedule.

use super::{exchanged_fact, lines};
use crate::{desc::GemmDesc, layout::Order, numeric::ComputeKind, operand::OperandKind, schedule::Schedule, shape::Mnk};
use core::fmt;

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
    pub(super) fn of(d: &GemmDesc) -> Self {
        let (lanes, machine) = (d.lanes(), d.arch.machine());
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
            exchanged: d.exchanged,
            threads: d.threads(),
            warps: d.warps(),
            lanes: [lanes.m, lanes.n],
            thread_tile: [d.warp.m / lanes.m, d.warp.n / lanes.n],
            registers: d.registers(),
            registers_available: d.registers_available(machine.registers_per_sm),
            smem_bytes: d.smem_bytes(),
            smem_bytes_available: machine.shared_bytes_each_of(d.blocks_per_sm),
            stage_bytes: d.stage_bytes(),
            deposit_bytes: d.deposit_bytes(),
            operands,
            store_access: d.store_access(),
            compute: d.compute,
            epilogue: d.epilogue.to_string(),
            schedule: lines(&Schedule::of(d)),
        }
    }

    /// The facts in words: what, and how much.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let [a, b] = self.operands;
        let [lanes_m, lanes_n] = self.lanes;
        let [tile_m, tile_n] = self.thread_tile;
        let mut facts = vec![
            ("warps", format!("{} of 32 lanes, {lanes_m} x {lanes_n}: {} threads", self.warps, self.threads)),
            ("thread tile", format!("{tile_m} x {tile_n}")),
            ("registers", format!("about {} of {} a thread", self.registers, self.registers_available)),
            ("shared memory", self.shared_memory()),
            ("A", a.to_string()),
            ("B", b.to_string()),
            ("D", format!("stored {} at a time", self.store_access)),
            ("epilogue", format!("{} in {}", self.epilogue, self.compute.name())),
        ];
        facts.splice(0..0, exchanged_fact(self.exchanged, Order::Col));
        facts
    }

    fn shared_memory(&self) -> String {
        let Self { smem_bytes, smem_bytes_available, stage_bytes, deposit_bytes, .. } = self;
        let deposit = if *deposit_bytes > 0 { format!(", {deposit_bytes} to add up slices of K") } else { String::new() };
        format!("{smem_bytes} of {smem_bytes_available} bytes a block: {stage_bytes} a stage{deposit}")
    }
}

impl fmt::Display for OperandExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} x {} ({} bytes) a thread from global memory, {} at a time into rows of {} in shared memory, {} at a time out",
            self.accesses, self.access, self.access_bytes, self.shared_access, self.pitch, self.fragment_access
        )
    }
}
