//! What follows from a warp-specialized description.

use crate::{
    desc::WarpSpecializedDesc,
    family::explain::{explanation, lines},
    layout::Order,
    numeric::{ComputeKind, EmulationKind},
    operand::OperandKind,
    shape::{Mn, Mnk},
    smem::Along,
    threadblock::{Region, WarpSpecialized},
    warp::mma_warpgroup::ROWS,
};

explanation! {
    /// The facts that follow from a warp-specialized description. Counts are in elements unless
    /// they say bytes.
    WarpSpecializedExplanation(d: &WarpSpecializedDesc, components: &WarpSpecialized) {
        let ring = components.ring;
        let pair = |shape: Mn| [shape.m, shape.n];
        let tiles = components.threads();
    }
    /// Whether A and B change places: so that D is row-major, A comes from registers, or few rows
    /// are few columns.
    exchanged: bool = d.frame.swapped;
    /// The order of D as the kernel sees it.
    layout_c: Order = d.frame.d_order();
    /// Sets of registers that hold A of a stage in turn; 0 where products read it in shared memory.
    fragment_sets: u32 = components.options.fragment_sets();
    /// Threads of a block: the producer's warpgroup and the consumers'.
    threads: u32 = ring.threads();
    /// Warpgroups that multiply, along M and N.
    consumers: [u32; 2] = pair(components.consumers);
    /// What each computes, along M and N; what a warp of it does where threads multiply.
    consumer_tile: [u32; 2] = [d.knobs.warp.m, d.knobs.warp.n];
    /// Lanes of a warp along M and N, where threads multiply.
    lanes: Option<[u32; 2]> = tiles.map(|tiles| [tiles.lanes.m, tiles.lanes.n]);
    /// The instruction; what a thread computes where threads multiply.
    instruction: Mnk = d.knobs.instruction;
    /// Its tiles in a consumer's, along M and N.
    repeats: [u32; 2] = pair(components.repeats);
    /// Registers of a thread that hold accumulators.
    accumulators: u32 = components.accumulators();
    /// Registers of a thread that hold partial accumulators, where accumulators are promoted.
    partial_accumulators: u32 = components.partial_accumulators();
    /// Products after which accumulators are promoted to f32; none where they are not.
    promoted_every: Option<u32> = d.promotes().then_some(d.knobs.threadblock.k);
    /// Registers that a thread of a consumer needs, estimated.
    registers: u32 = components.registers_needed();
    /// Registers that it has.
    registers_available: u32 = components.registers_available();
    /// Registers with which every thread is launched.
    registers_at_launch: u32 = ring.launch_registers();
    /// Registers that a thread of the producer keeps, and one of a consumer takes; none where they
    /// stay as launched.
    registers_kept_and_taken: Option<[u8; 2]> = components.options.registers;
    /// How factors are decomposed into parts.
    emulation: EmulationKind = d.knobs.emulation;
    /// Stages of the ring.
    stages: u32 = ring.stages;
    /// Bytes of one stage.
    stage_bytes: u32 = ring.expect_bytes();
    /// Buffers through which each consumer stores D.
    staging_buffers: u32 = ring.staging_buffers;
    /// Bytes of one of them.
    staging_bytes: u32 = ring.staging_bytes;
    /// Blocks of a cluster that have parts of K of one tile; 1 where they have tiles.
    parts_of_cluster: u32 = 1 + ring.senders();
    /// Bytes in which the other blocks' parts land.
    slot_bytes: u32 = ring.first_byte(Region::Full) - ring.first_byte(Region::Slot);
    /// Bytes of all barriers.
    barrier_bytes: u32 = ring.shared_bytes() - ring.first_byte(Region::Full);
    /// Shared memory of a block.
    smem_bytes: u32 = ring.shared_bytes();
    /// Shared memory that a block can have.
    smem_bytes_available: u32 = d.class.arch.machine().shared_bytes_each_of(1);
    /// Blocks of a cluster, along M and N.
    cluster: [u32; 2] = pair(d.knobs.cluster);
    /// A and B as TMA sees them.
    operands: [BoxesExplanation; 2] = OperandKind::BOTH.map(|operand| BoxesExplanation::of(operand, components));
    /// Subtiles in which a consumer stores its tile of D; none where threads store it from
    /// registers.
    subtiles: u32 = u32::from(components.options.subtiles);
    /// Rows and columns of a subtile.
    subtile: [u32; 2] = if components.options.by_threads { [0, 0] } else { [ROWS, components.subtile_columns] };
    /// Elements of D that a thread stores at once; none where TMA stores.
    store_access: Option<u32> = match tiles {
        Some(tiles) => Some(d.knobs.align_c.min(tiles.interleave[1])),
        None => (d.class.output.element.bytes_of(d.knobs.align_c) < 16).then_some(d.knobs.align_c),
    };
    /// What the epilogue computes in.
    compute: ComputeKind = d.class.compute;
    /// The epilogue.
    epilogue: String = d.class.output.epilogue.leave(d.frame).to_string();
    /// The order of steps of each role, a line for each section that has any.
    schedule: Vec<String> = lines(&components.roles());
}

explanation! {
    /// How an operand comes into a stage.
    BoxesExplanation(operand: OperandKind, components: &WarpSpecialized) {
        let tile = components.tile(operand);
        let box_mn = components.box_mn(operand);
    }
    /// Its name.
    name: &'static str = operand.name();
    /// Whether a box is K-major.
    along_k: bool = tile.along().is(Along::K);
    /// Extents of a box: along M or N, and along K.
    extents: [u32; 2] = [box_mn, tile.k()];
    /// Bytes of a box.
    bytes: u32 = box_mn * tile.row_bytes();
    /// Boxes that each block copies for a stage.
    copies: u32 = components.copies(operand);
    /// Blocks among which the operand is shared, each of which copies its part to all.
    shares: u32 = components.ring.shares(operand);
}
