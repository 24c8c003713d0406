//! What follows from a description whose warpgroups have roles.

use super::lines;
use crate::{
    desc::WarpSpecializedDesc,
    layout::Order,
    numeric::{ComputeKind, SplitKind},
    operand::OperandKind,
    shape::{Mn, Mnk},
    threadblock::{Along, Region, WarpSpecialized},
    warp::mma_warpgroup::ROWS,
};

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
    pub(super) fn of(d: &WarpSpecializedDesc, components: &WarpSpecialized) -> Self {
        let (ring, repeats) = (components.ring, components.repeats);
        let pair = |shape: Mn| [shape.m, shape.n];
        let (by_threads, tiles) = (components.options.by_threads, components.threads());
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
            exchanged: d.frame.is_exchanged(),
            layout_c: d.class.output.layout,
            fragment_sets: components.options.fragment_sets(),
            threads: ring.threads(),
            consumers: pair(components.consumers),
            consumer_tile: [d.knobs.warp.m, d.knobs.warp.n],
            lanes: tiles.map(|tiles| [tiles.lanes.m, tiles.lanes.n]),
            instruction: d.knobs.instruction,
            repeats: pair(repeats),
            accumulators: components.accumulators(),
            partial_sums: components.partial_sums(),
            promoted_every: d.promotes().then_some(d.knobs.threadblock.k),
            registers: components.registers_needed(),
            registers_available: components.registers_available(),
            registers_at_launch: ring.launch_registers(),
            registers_kept_and_taken: components.options.registers,
            split: d.knobs.emulation,
            stages: ring.stages,
            stage_bytes: ring.expect_bytes(),
            staging_buffers: ring.staging_buffers,
            staging_bytes: ring.staging_bytes,
            barrier_bytes: ring.shared_bytes() - ring.first_byte(Region::Full),
            smem_bytes: ring.shared_bytes(),
            smem_bytes_available: d.class.arch.machine().shared_bytes_each_of(1),
            cluster: pair(d.knobs.cluster),
            operands,
            slices: u32::from(components.options.slices),
            slice: if by_threads { [0, 0] } else { [ROWS, components.slice_columns] },
            store_access: match tiles {
                Some(tiles) => Some(d.knobs.align_c.min(tiles.interleave[1])),
                None => (d.class.output.element.bytes_of(d.knobs.align_c) < 16).then_some(d.knobs.align_c),
            },
            compute: d.class.compute,
            epilogue: d.class.output.epilogue.to_string(),
            schedule: lines(&components.roles()),
        }
    }
}
