//! The rules of tile shapes and clusters.

use crate::{
    arch::PORTABLE_CLUSTER,
    nest::GemmDesc,
    operand::Axis,
    refusal::{
        Because, Field, Refusal, hold,
        rules::{explained, multiple, or, within},
    },
    schedule::ScheduleKind,
    threadblock::{
        SharedOperand, WarpSpecialized, tensor_map::CHUNK_BYTES, tma_ring::pipeline::MOST_CONSUMERS,
    },
    warp::wgmma::{MOST_COLUMNS, ROWS, STAGE_BYTES, STEP_BYTES, columns_of},
};

/// Maximum number of instruction tiles that a consumer promotes per stage.
pub(crate) const MOST_PROMOTED_TILES: u32 = u8::MAX as u32;

/// Maximum extent of a threadblock tile along M and N.
pub(crate) const MOST_TILE: u32 = 512;

/// Names the schedule in the refusal of a ping-pong kernel, whose consumers compute separate tiles.
pub(crate) const fn ping_pong(rule: Result<(), Refusal>) -> Result<(), Refusal> {
    or(explained(rule, Because::Words("schedule = pingpong")), "schedule = cooperative")
}

impl WarpSpecialized {
    /// Checks that instructions and warpgroups divide the tiles, and that a CTA supports the number
    /// of warpgroups.
    pub(crate) const fn shapes(d: &GemmDesc) -> Result<(), Refusal> {
        let (tb, warp, instruction) = (d.threadblock(), d.warp(), d.instruction());
        let depth = d.operands[0].stored.elements_in(STAGE_BYTES) as u64;
        let step = d.operands[0].stored.elements_in(STEP_BYTES) as u64;
        let rules = [
            (Field::Instruction(Axis::M), instruction.m as u64, ROWS as u64, ROWS as u64),
            (Field::Instruction(Axis::K), instruction.k as u64, step, step),
            (Field::Instruction(Axis::N), instruction.n as u64, 8, MOST_COLUMNS as u64),
            (Field::Warp(Axis::K), warp.k as u64, depth, depth),
            (Field::Threadblock(Axis::K), tb.k as u64, depth, depth),
            (Field::Warp(Axis::M), warp.m as u64, ROWS as u64, MOST_TILE as u64),
            (Field::Warp(Axis::N), warp.n as u64, 8, MOST_TILE as u64),
            (Field::Threadblock(Axis::M), tb.m as u64, ROWS as u64, MOST_TILE as u64),
            (Field::Threadblock(Axis::N), tb.n as u64, 8, MOST_TILE as u64),
        ];
        let mut i = 0;
        while i < rules.len() {
            let (field, value, least, most) = rules[i];
            hold!(within(field, value, least, most));
            i += 1;
        }
        hold!(multiple(
            Field::Instruction(Axis::N),
            instruction.n as u64,
            columns_of(d.operands[0].stored.is_integer(), instruction.n) as u64,
            MOST_COLUMNS as u64
        ));
        hold!(multiple(Field::Warp(Axis::M), warp.m as u64, ROWS as u64, MOST_TILE as u64));
        // Columns are multiples of instructions and, for a row-major D, of the rows of the
        // narrowest swizzle. Two instructions suffice for all element types.
        let mut columns = instruction.n;
        while d.frame.d_order().is_row()
            && !d.output.element.bytes_of(columns).is_multiple_of(2 * CHUNK_BYTES)
        {
            columns += instruction.n;
        }
        hold!(multiple(Field::Warp(Axis::N), warp.n as u64, columns as u64, MOST_TILE as u64));
        hold!(multiple(Field::Threadblock(Axis::M), tb.m as u64, warp.m as u64, MOST_TILE as u64));
        hold!(multiple(Field::Threadblock(Axis::N), tb.n as u64, warp.n as u64, MOST_TILE as u64));
        let (field, warpgroups) =
            (Field::Warpgroups, (tb.m / warp.m) as u64 * (tb.n / warp.n) as u64);
        match d.schedule() {
            ScheduleKind::Cooperative => within(field, warpgroups, 1, MOST_CONSUMERS as u64),
            ScheduleKind::Pingpong => ping_pong(within(field, warpgroups, 1, 1)),
        }
    }

    /// Checks the shape of the cluster.
    pub(crate) const fn cluster_shape(d: &GemmDesc) -> Result<(), Refusal> {
        let most = PORTABLE_CLUSTER as u64;
        if d.cuts_by_cluster() {
            // The CTAs of the cluster compute the slices.
            let because = Because::Words(d.work.decomposition.name());
            let (m, n) = (d.mainloop.cluster().m as u64, d.mainloop.cluster().n as u64);
            hold!(explained(within(Field::Cluster(Axis::M), m, 1, 1), because));
            hold!(explained(within(Field::Cluster(Axis::N), n, 1, 1), because));
            return explained(within(Field::SplitK, d.work.split_k as u64, 1, most), because);
        }
        let (m, n) = (d.mainloop.cluster().m, d.mainloop.cluster().n);
        hold!(within(Field::Cluster(Axis::M), m as u64, 1, most));
        hold!(within(Field::Cluster(Axis::N), n as u64, 1, most));
        if m > 1 && n > 1 {
            return Err(Refusal::cluster_along_both_axes(m, n));
        }
        Ok(())
    }

    /// Returns the refusal of too many promoted tiles. Each instruction tile of a stage is a step
    /// of the schedule.
    pub(crate) const fn too_many_promoted_tiles(d: &GemmDesc, repeats_m: u32) -> Refusal {
        let least = (repeats_m * d.warp().n).div_ceil(MOST_PROMOTED_TILES).next_multiple_of(8);
        let (field, value) = (Field::Instruction(Axis::N), d.instruction().n as u64);
        Refusal::out_of_range(field, value, least as u64, MOST_COLUMNS as u64)
            .because(Because::Words("promotion = stage"))
    }

    /// Checks that the boxes of the shared operand divide evenly among the CTAs of a cluster.
    pub(crate) const fn shared_evenly(&self) -> Result<(), Refusal> {
        let Some(SharedOperand { operand, blocks }) = self.ring.multicast else { return Ok(()) };
        let tile = self.tile(operand);
        let boxes = tile.mn() / tile.multiple();
        let mut nearest = blocks;
        while !boxes.is_multiple_of(nearest) {
            nearest -= 1;
        }
        if nearest == blocks {
            return Ok(());
        }
        Err(Refusal::uneven_boxes(operand.other().axis(), blocks, boxes, nearest))
    }
}
