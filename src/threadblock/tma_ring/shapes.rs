//! The rules of tile shapes and clusters.

use crate::{
    arch::PORTABLE_CLUSTER,
    layout::Order,
    nest::GemmDesc,
    refusal::{
        Because, Field, Operand, Refusal, hold,
        rules::{explained, multiple, or, within},
    },
    schedule::ScheduleKind,
    shape::{Axis, OperandKind},
    threadblock::{
        MainloopKind, SharedOperand, StageTile, WarpSpecialized,
        tma_ring::pipeline::{ALIGNMENT_BYTES, MOST_CONSUMERS},
    },
    warp::warpgroup::WARPS,
};

/// Maximum extent of a threadblock tile along M and N.
pub(crate) const MOST_TILE: u32 = 512;

/// Maximum depth of a stage that threads read. Loops over K are unrolled.
pub(crate) const MOST_DEPTH: u64 = 64;

/// Names the schedule in the refusal of a ping-pong kernel, whose consumers compute separate tiles.
pub(crate) const fn ping_pong(rule: Result<(), Refusal>) -> Result<(), Refusal> {
    or(explained(rule, Because::Words("schedule = pingpong")), "schedule = cooperative")
}

/// Checks that the warps of a tile form whole consumers: one with ping-pong, else at most
/// [`MOST_CONSUMERS`].
pub(crate) const fn check_warps(d: &GemmDesc) -> Result<(), Refusal> {
    let (tile, warp) = (d.threadblock(), d.warp());
    let warps = (tile.m / warp.m) as u64 * (tile.n / warp.n) as u64;
    let (field, one) = (Field::WarpsOfConsumers, WARPS as u64);
    match d.schedule() {
        ScheduleKind::Pingpong => ping_pong(within(field, warps, one, one)),
        ScheduleKind::Cooperative => {
            let most = (WARPS * MOST_CONSUMERS) as u64;
            hold!(within(field, warps, one, most));
            multiple(field, warps, one, most)
        }
    }
}

/// Checks that the threadblock tile is a multiple of the warp tile, of the same depth.
pub(crate) const fn check_warp_grid(d: &GemmDesc) -> Result<(), Refusal> {
    let (tile, warp, most) = (d.threadblock(), d.warp(), MOST_TILE as u64);
    hold!(within(Field::Warp(Axis::K), warp.k as u64, tile.k as u64, tile.k as u64));
    hold!(within(Field::Threadblock(Axis::M), tile.m as u64, warp.m as u64, most));
    hold!(within(Field::Threadblock(Axis::N), tile.n as u64, warp.n as u64, most));
    hold!(multiple(Field::Threadblock(Axis::M), tile.m as u64, warp.m as u64, most));
    multiple(Field::Threadblock(Axis::N), tile.n as u64, warp.n as u64, most)
}

/// Checks that threads store a row-major D, as the consumers on `units` do.
pub(crate) const fn check_row_major_d(d: &GemmDesc, units: &'static str) -> Result<(), Refusal> {
    if d.frame.d_order().is_row() {
        return Ok(());
    }
    let (value, nearest) = (Order::Col.name(), Order::Row.name());
    let refused = no_choice(Field::Layout(Operand::C), value, nearest);
    explained(refused, Because::Words(units))
}

/// Returns the refusal of a value that the TMA ring does not support.
pub(crate) const fn no_choice(
    field: Field,
    value: &'static str,
    nearest: &'static str,
) -> Result<(), Refusal> {
    Err(Refusal::unsupported(field, value, MainloopKind::TmaRing.name(), nearest))
}

impl WarpSpecialized {
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

    /// Checks that each share of a stage is a multiple of a kilobyte, as the ring requires.
    pub(crate) const fn whole_stages(&self) -> Result<(), Refusal> {
        let mut i = 0;
        while i < OperandKind::BOTH.len() {
            let operand = OperandKind::BOTH[i];
            let tile = self.tile(operand);
            let StageTile::Threads { element, .. } = tile else {
                // Its rows have 128 bytes, and its extents are multiples of eight.
                return Ok(());
            };
            let row = element.bytes_of(tile.mn() / self.ring.shares(operand));
            // The smallest power of two whose product with a row is a multiple of a kilobyte. A row
            // has at least 32 bytes.
            let of = ALIGNMENT_BYTES
                >> if row.trailing_zeros() < 10 { row.trailing_zeros() } else { 10 };
            hold!(explained(
                multiple(Field::Threadblock(Axis::K), tile.k() as u64, of as u64, MOST_DEPTH),
                Because::Words("stages are multiples of 1024 bytes")
            ));
            i += 1;
        }
        Ok(())
    }
}
