//! The explanation of a warp-specialized description.

use crate::{
    layout::Order,
    nest::{
        GemmDesc,
        explanation::{explanation, lines},
    },
    numeric::{ComputeKind, EmulationKind},
    shape::{Mn, Mnk, OperandKind},
    threadblock::{Region, WarpSpecialized, smem::Along},
    warp::warpgroup::ROWS,
};

explanation! {
    /// The derived facts of a warp-specialized description. Counts are in elements, except in
    /// fields named `bytes`.
    WarpSpecializedExplanation(d: &GemmDesc, components: &WarpSpecialized) {
        let ring = components.ring;
        let pair = |shape: Mn| [shape.m, shape.n];
        let tiles = components.threads();
    }
    /// Whether A and B are swapped: for a row-major D, for A in registers, or for a small M.
    swapped: bool = d.frame.swapped;
    /// Order of D in the kernel's frame.
    layout_c: Order = d.frame.d_order();
    /// Fragment sets that hold A of a stage, round-robin; 0 if `wgmma` reads A from shared memory.
    fragment_sets: u32 = components.options.fragment_sets();
    /// Threads per CTA, of the producer warpgroup and the consumers.
    threads: u32 = ring.threads();
    /// Consumer warpgroups along M and N.
    consumers: [u32; 2] = pair(components.consumers);
    /// Tile of a consumer along M and N, or of a warp if threads store D.
    consumer_tile: [u32; 2] = [d.warp().m, d.warp().n];
    /// Lanes of a warp along M and N, if threads store D.
    lanes: Option<[u32; 2]> = tiles.map(|tiles| [tiles.lanes.m, tiles.lanes.n]);
    /// Shape of the instruction, or the tile of a thread in a SIMT kernel.
    instruction: Mnk = d.instruction();
    /// Instructions per consumer tile along M and N.
    repeats: [u32; 2] = pair(components.repeats);
    /// Registers per thread that hold accumulators.
    accumulators: u32 = components.accumulators();
    /// Registers per thread that hold partial accumulators, if accumulators are promoted.
    partial_accumulators: u32 = components.partial_accumulators();
    /// Length along K after which accumulators are promoted to f32; `None` without promotion.
    promoted_every: Option<u32> = d.promotes().then_some(d.threadblock().k);
    /// Estimated registers that a consumer thread needs.
    registers: u32 = components.registers_needed();
    /// Registers available to a consumer thread.
    registers_available: u32 = components.registers_available();
    /// Registers per thread at the launch.
    registers_at_launch: u32 = ring.launch_registers();
    /// Registers of a producer thread and of a consumer thread after the launch; `None` if they do
    /// not change.
    registers_kept_and_taken: Option<[u8; 2]> = components.options.registers;
    /// Emulation of f32 by terms.
    emulation: EmulationKind = d.emulation();
    /// Stages of the ring.
    stages: u32 = ring.stages;
    /// Bytes per stage.
    stage_bytes: u32 = ring.whole_stage_bytes();
    /// Staging buffers through which each consumer stores D.
    staging_buffers: u32 = ring.staging_buffers;
    /// Bytes per staging buffer.
    staging_bytes: u32 = ring.staging_bytes;
    /// CTAs of a cluster that compute split-K slices of one tile; 1 if each has its own tiles.
    cluster_slices: u32 = 1 + ring.senders();
    /// Bytes that receive the partials of the other CTAs.
    slot_bytes: u32 = ring.first_byte(Region::Vectors) - ring.first_byte(Region::Slot);
    /// Bytes of the epilogue's vectors in shared memory, for all consumers.
    vector_bytes: u32 = ring.first_byte(Region::Full) - ring.first_byte(Region::Vectors);
    /// Bytes of all barriers.
    barrier_bytes: u32 = ring.shared_bytes() - ring.first_byte(Region::Full);
    /// Shared memory per CTA, in bytes.
    smem_bytes: u32 = ring.shared_bytes();
    /// Shared memory available to a CTA, in bytes.
    smem_bytes_available: u32 = d.arch.machine().shared_bytes_each_of(1);
    /// CTAs of a cluster along M and N.
    cluster: [u32; 2] = pair(d.mainloop.cluster());
    /// A and B as TMA boxes.
    operands: [BoxesExplanation; 2] = OperandKind::BOTH.map(|operand| BoxesExplanation::new(operand, components));
    /// Subtiles in which a consumer stores its tile of D; 0 if threads store it from registers.
    subtiles: u32 = u32::from(components.options.subtiles);
    /// Rows and columns of a subtile.
    subtile: [u32; 2] = if components.options.by_threads { [0, 0] } else { [ROWS, components.subtile_columns] };
    /// Elements of D per store of a thread; `None` if TMA stores.
    store_access: Option<u32> = match tiles {
        Some(tiles) => Some(tiles.store_access(d.output.access)),
        None => (d.output.element.bytes_of(d.output.access) < 16).then_some(d.output.access),
    };
    /// Type in which the epilogue computes.
    compute: ComputeKind = d.output.compute;
    /// Expression of the epilogue.
    epilogue: String = d.epilogue.leave(d.frame).to_string();
    /// Schedules of the roles, one line per nonempty section.
    schedule: Vec<String> = lines(&components.roles());
}

explanation! {
    /// The boxes by which an operand enters a stage.
    BoxesExplanation(operand: OperandKind, components: &WarpSpecialized) {
        let tile = components.tile(operand);
        let box_mn = components.box_mn(operand);
    }
    /// Name of the operand.
    name: &'static str = operand.name();
    /// Whether a box is K-major.
    along_k: bool = tile.along().is(Along::K);
    /// Extents of a box along M or N, and along K.
    extents: [u32; 2] = [box_mn, tile.k()];
    /// Bytes per box.
    bytes: u32 = box_mn * tile.row_bytes();
    /// Boxes per stage that each CTA copies.
    copies: u32 = components.copies(operand);
    /// CTAs that share the operand. Each copies its share to all of them.
    shares: u32 = components.ring.shares(operand);
}
