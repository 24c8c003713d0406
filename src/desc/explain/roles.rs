//! What follows from a description whose warpgroups have roles.

use super::{exchanged_fact, lines};
use crate::{
    desc::GemmDesc,
    layout::Order,
    numeric::{ComputeKind, SplitKind},
    operand::OperandKind,
    shape::{Mn, Mnk},
    threadblock::{Along, Region, WarpSpecialized},
    warp::mma_warpgroup::ROWS,
};
use core::fmt;

/// The facts that follow from a description whose warpgroups have roles. Counts are in elements unless they say bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RolesExplanation {
    /// Whether A and B change places, so that D is row-major, or A comes from registers.
    pub exchanged: bool,
    /// The order of D as the kernel sees it.
    pub layout_c: Order,
    /// Sets of registers that hold A of a stage in turn; 0 where products read it in shared memory.
    pub fragment_sets: u32,
    /// Threads of a block: the producer's warpgroup and the consumers'.
    pub threads: u32,
    /// Warpgroups that multiply, along M and N.
    pub consumers: [u32; 2],
    /// What each computes, along M and N; what a warp of it does where threads multiply.
    pub consumer_tile: [u32; 2],
    /// Lanes of a warp along M and N, where threads multiply.
    pub lanes: Option<[u32; 2]>,
    /// The instruction; what a thread computes where threads multiply.
    pub instruction: Mnk,
    /// Its tiles in a consumer's, along M and N.
    pub repeats: [u32; 2],
    /// Registers of a thread that hold accumulators.
    pub accumulators: u32,
    /// Registers of a thread that hold partial sums, where sums are promoted.
    pub partial_sums: u32,
    /// Products after which sums are promoted to f32; none where they are not.
    pub promoted_every: Option<u32>,
    /// Registers that a thread of a consumer needs, estimated.
    pub registers: u32,
    /// Registers that it has.
    pub registers_available: u32,
    /// Registers with which every thread is launched.
    pub registers_at_launch: u32,
    /// Registers that a thread of the producer keeps, and one of a consumer takes; none where they stay as launched.
    pub registers_kept_and_taken: Option<[u8; 2]>,
    /// How factors are split into parts.
    pub split: SplitKind,
    /// Stages of the ring.
    pub stages: u32,
    /// Bytes of one stage.
    pub stage_bytes: u32,
    /// Buffers through which each consumer stores D.
    pub staging_buffers: u32,
    /// Bytes of one of them.
    pub staging_bytes: u32,
    /// Bytes of all barriers.
    pub barrier_bytes: u32,
    /// Shared memory of a block.
    pub smem_bytes: u32,
    /// Shared memory that a block can have.
    pub smem_bytes_available: u32,
    /// Blocks of a cluster, along M and N.
    pub cluster: [u32; 2],
    /// A and B as the copy engine sees them.
    pub operands: [BoxesExplanation; 2],
    /// Slices in which a consumer stores its tile of D; none where threads store it from registers.
    pub slices: u32,
    /// Rows and columns of a slice.
    pub slice: [u32; 2],
    /// Elements of D that a thread stores at once; none where the copy engine stores.
    pub store_access: Option<u32>,
    /// What the epilogue computes in.
    pub compute: ComputeKind,
    /// The epilogue.
    pub epilogue: String,
    /// The order of steps of each role, a line for each section that has any.
    pub schedule: Vec<String>,
}

/// How an operand comes into a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BoxesExplanation {
    /// Its name.
    pub name: &'static str,
    /// Whether rows of a box lie along K.
    pub along_k: bool,
    /// Extents of a box: along M or N, and along K.
    pub extents: [u32; 2],
    /// Bytes of a box.
    pub bytes: u32,
    /// Boxes that each block copies for a stage.
    pub copies: u32,
    /// Blocks among which the operand is shared, each of which copies its part to all.
    pub shares: u32,
}

impl RolesExplanation {
    pub(super) fn of(d: &GemmDesc, components: &WarpSpecialized) -> Self {
        let (ring, repeats) = (components.ring, components.repeats);
        let pair = |shape: Mn| [shape.m, shape.n];
        let (by_threads, lanes) = (components.options.by_threads, d.lanes());
        let operands = OperandKind::BOTH.map(|operand| {
            let tile = components.tile(operand);
            let (box_mn, bytes) = (components.box_mn(operand), tile.row_bytes());
            BoxesExplanation {
                name: operand.name(),
                along_k: tile.along().is(Along::K),
                extents: [box_mn, tile.k()],
                bytes: box_mn * bytes,
                copies: components.copies(operand),
                shares: ring.shares(operand),
            }
        });
        Self {
            exchanged: d.exchanged,
            layout_c: d.layout_c,
            fragment_sets: components.options.fragment_sets(),
            threads: ring.threads(),
            consumers: pair(components.consumers),
            consumer_tile: [d.warp.m, d.warp.n],
            lanes: by_threads.then_some([lanes.m, lanes.n]),
            instruction: d.instruction,
            repeats: pair(repeats),
            accumulators: components.accumulators(),
            partial_sums: components.partial_sums(),
            promoted_every: d.promotes().then_some(d.threadblock.k),
            registers: components.registers_needed(),
            registers_available: components.registers_available(),
            registers_at_launch: ring.launch_registers(),
            registers_kept_and_taken: components.options.registers,
            split: d.split,
            stages: ring.stages,
            stage_bytes: ring.expect_bytes(),
            staging_buffers: ring.staging_buffers,
            staging_bytes: ring.staging_bytes,
            barrier_bytes: ring.shared_bytes() - ring.first_byte(Region::Full),
            smem_bytes: ring.shared_bytes(),
            smem_bytes_available: d.arch.machine().shared_bytes_each_of(1),
            cluster: pair(d.cluster),
            operands,
            slices: u32::from(components.options.slices),
            slice: if by_threads { [0, 0] } else { [ROWS, components.slice_columns] },
            store_access: match by_threads {
                true => Some(d.store_access()),
                false => (d.c.bytes_of(d.align_c) < 16).then_some(d.align_c),
            },
            compute: d.compute,
            epilogue: d.epilogue.to_string(),
            schedule: lines(&components.roles()),
        }
    }

    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let [a, b] = self.operands;
        let ([consumers_m, consumers_n], [tile_m, tile_n], [repeats_m, repeats_n]) =
            (self.consumers, self.consumer_tile, self.repeats);
        let Mnk { m, n, k } = self.instruction;
        let Self { threads, accumulators, registers, registers_available, registers_at_launch, .. } = self;
        let given = match self.registers_kept_and_taken {
            Some([kept, taken]) => {
                format!("launched with {registers_at_launch}, the producer keeps {kept} and consumers take {taken}")
            }
            None => format!("launched with {registers_at_launch}, which all keep"),
        };
        let mut facts = vec![
            ("warpgroups", format!("a producer and {consumers_m} x {consumers_n} consumers: {threads} threads")),
            match self.lanes {
                None => {
                    ("consumer tile", format!("{tile_m} x {tile_n}: {repeats_m} x {repeats_n} instructions of {m} x {n} x {k}"))
                }
                Some([down, across]) => (
                    "warp tile",
                    format!("{tile_m} x {tile_n}: {down} x {across} lanes, {m} x {n} a thread, four warps a consumer"),
                ),
            },
            ("registers", format!("about {registers} of {registers_available}, {accumulators} of them accumulators; {given}")),
            ("shared memory", self.shared_memory()),
            ("A", a.to_string()),
            ("B", b.to_string()),
            ("D", self.stored()),
            ("epilogue", format!("{} in {}", self.epilogue, self.compute.name())),
        ];
        let [cluster_m, cluster_n] = self.cluster;
        if cluster_m * cluster_n > 1 {
            facts.insert(1, ("cluster", format!("{cluster_m} x {cluster_n} blocks")));
        }
        if let Some(every) = self.promoted_every {
            let partial = self.partial_sums;
            facts.insert(
                3,
                (
                    "promotion",
                    format!("sums are added to those in f32 every {every} of K, from {partial} registers of partial sums"),
                ),
            );
        }
        if self.fragment_sets > 0 {
            facts.push(("A in registers", format!("{} sets in turn", self.fragment_sets)));
        }
        if let Some(part) = self.split.part() {
            let (parts, products, all) = (self.split.parts(), self.split.products().len(), self.split.parts().pow(2));
            let scaled = if self.split.scales() { ", rows of A and columns of B scaled" } else { "" };
            facts.insert(
                0,
                ("split", format!("f32 in {parts} parts of {part}{scaled}; {products} of {all} products of parts are summed")),
            );
        }
        facts.splice(0..0, exchanged_fact(self.exchanged, self.layout_c.transposed()));
        facts
    }

    fn shared_memory(&self) -> String {
        let Self { smem_bytes, smem_bytes_available, stages, stage_bytes, staging_buffers, staging_bytes, barrier_bytes, .. } =
            self;
        let staging = match staging_buffers * self.consumers[0] * self.consumers[1] {
            0 => String::new(),
            buffers => format!(", {buffers} staging buffers of {staging_bytes}"),
        };
        format!(
            "{smem_bytes} of {smem_bytes_available} bytes a block: {stages} stages of {stage_bytes}{staging}, {barrier_bytes} of barriers"
        )
    }

    fn stored(&self) -> String {
        let [rows, columns] = self.slice;
        if let (0, Some(access)) = (self.slices, self.store_access) {
            return format!("stored by threads from registers, {access} at a time");
        }
        let by = match self.store_access {
            None => "by the copy engine".to_owned(),
            Some(access) => format!("by threads, {access} at a time"),
        };
        format!("stored {by}, in {} slices of {rows} x {columns} a consumer", self.slices)
    }
}

impl fmt::Display for BoxesExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [mn, k] = self.extents;
        let along = match (self.along_k, self.name) {
            (true, _) => "K",
            (false, "A") => "M",
            (false, _) => "N",
        };
        write!(f, "{} boxes of {mn} x {k} ({} bytes) a stage, rows along {along}", self.copies, self.bytes)?;
        if self.shares > 1 {
            write!(f, ", each copied to all {} blocks of the cluster", self.shares)?;
        }
        Ok(())
    }
}
