//! The components of a TMA-fed SIMT kernel: see `src/threadblock/tma_ring/simt.rs`.

use crate::{
    arch::WARP,
    nest::GemmDesc,
    numeric::ElementKind,
    operand::{Axis, OperandKind},
    refusal::{
        Because, Field, Legal, Refusal, hold,
        rules::{explained, multiple, within},
    },
    schedule::ScheduleKind,
    shape::Mn,
    threadblock::{
        MainloopKind, Pipeline, RoleOptions, StageTile, SwizzleMode, WarpSpecialized,
        tma_ring::{
            components::PARTNERS,
            pipeline::{ALIGNMENT_BYTES, MOST_CONSUMERS, WARPS},
            shapes::{MOST_TILE, ping_pong},
        },
    },
    warp::{InterleaveKind, LaneArrangement, ThreadTiles, TiledMma, simt::maps::interleave},
};

/// Divisor of the extents of a thread tile: one access to shared memory.
const VECTOR: u32 = 4;

/// Maximum extent of a thread tile.
const MOST_THREAD: u64 = 16;

/// Minimum and maximum lanes of a warp along M. Within them, no warp's part of a tile is wider than
/// a box.
const LANES: (u32, u32) = (2, 16);

/// Depths of a stage: the minimum, which is also their divisor, and the maximum. Loops over K are
/// unrolled.
const DEPTHS: (u64, u64) = (8, 64);

impl WarpSpecialized {
    /// Returns the components of a description for the CUDA cores.
    pub(crate) const fn new_simt(d: &GemmDesc) -> Result<Self, Refusal> {
        let f32 = ElementKind::F32;
        if !(d.operands[0].stored.is(f32)
            && d.operands[1].stored.is(f32)
            && d.output.accumulator.is(f32)
            && d.output.element.is(f32))
        {
            return Err(Refusal::tensor_cores_only(MainloopKind::TmaRing.name()));
        }
        hold!(Self::thread_shapes(d));
        hold!(Self::cluster_shape(d));
        let block = d.threadblock();
        let pingpong = matches!(d.schedule(), ScheduleKind::Pingpong);
        let (warp, thread) = (d.warp(), d.instruction());
        let tiles = ThreadTiles {
            block,
            warp,
            lanes: LaneArrangement { m: warp.m / thread.m, n: warp.n / thread.n, quads: false },
            interleave: [
                interleave(InterleaveKind::Vector, f32, thread.m),
                interleave(InterleaveKind::Vector, f32, thread.n),
            ],
        };
        let warps = tiles.warps();
        let count = warps.m * warps.n / WARPS;
        let mma = TiledMma::Simt(tiles);
        let ring = Pipeline {
            stages: d.stages(),
            stage_bytes: [
                StageTile::of_mma(&mma, OperandKind::A).bytes(),
                StageTile::of_mma(&mma, OperandKind::B).bytes(),
            ],
            consumers: if pingpong { PARTNERS } else { count },
            pingpong,
            multicast: Self::multicast(d),
            slices: d.cluster_slices(tiles.accumulators()),
            staging_buffers: 0,
            staging_bytes: 0,
            source: false,
        };
        let registers = Self::registers(&ring);
        let options = RoleOptions {
            pending: 0,
            promoted_tiles: None,
            fragments: false,
            subtiles: 0,
            split_k: d.has_slices(),
            by_threads: true,
            registers,
        };
        let consumers = Mn { m: count, n: 1 };
        let this = Self {
            ring,
            consumers,
            repeats: Mn::ONE,
            mma,
            options,
            grouped: d.work.mode.groups().is_some(),
            array: d.work.mode.is_array(),
            layout_c: d.frame.d_order(),
            subtile_columns: 0,
            subtile_swizzle: SwizzleMode::None,
        };
        hold!(this.shared_evenly());
        hold!(this.whole_stages());
        hold!(ring.check());
        Ok(this)
    }

    /// Checks that thread tiles fill warp tiles, that warp tiles divide the threadblock tile, and
    /// that the warps form whole warpgroups.
    const fn thread_shapes(d: &GemmDesc) -> Result<(), Refusal> {
        let (tb, warp, thread) = (d.threadblock(), d.warp(), d.instruction());
        let (vector, most_tile) = (VECTOR as u64, MOST_TILE as u64);
        hold!(within(Field::Instruction(Axis::M), thread.m as u64, vector, MOST_THREAD));
        hold!(multiple(Field::Instruction(Axis::M), thread.m as u64, vector, MOST_THREAD));
        hold!(within(Field::Instruction(Axis::N), thread.n as u64, vector, MOST_THREAD));
        hold!(multiple(Field::Instruction(Axis::N), thread.n as u64, vector, MOST_THREAD));
        hold!(within(Field::Instruction(Axis::K), thread.k as u64, 1, 1));
        let lanes = nearest_lanes(warp.m / thread.m);
        if warp.m != lanes * thread.m {
            let (legal, nearest) = (Legal::LanesTimesInstruction, (lanes * thread.m) as u64);
            return Err(Refusal::not_one_of(Field::Warp(Axis::M), warp.m as u64, legal, nearest));
        }
        let columns = (WARP / lanes * thread.n) as u64;
        hold!(within(Field::Warp(Axis::N), warp.n as u64, columns, columns));
        hold!(within(Field::Threadblock(Axis::K), tb.k as u64, DEPTHS.0, DEPTHS.1));
        hold!(multiple(Field::Threadblock(Axis::K), tb.k as u64, DEPTHS.0, DEPTHS.1));
        hold!(within(Field::Warp(Axis::K), warp.k as u64, tb.k as u64, tb.k as u64));
        hold!(within(Field::Threadblock(Axis::M), tb.m as u64, warp.m as u64, most_tile));
        hold!(within(Field::Threadblock(Axis::N), tb.n as u64, warp.n as u64, most_tile));
        hold!(multiple(Field::Threadblock(Axis::M), tb.m as u64, warp.m as u64, most_tile));
        hold!(multiple(Field::Threadblock(Axis::N), tb.n as u64, warp.n as u64, most_tile));
        let warps = (tb.m / warp.m) as u64 * (tb.n / warp.n) as u64;
        match d.schedule() {
            ScheduleKind::Pingpong => {
                ping_pong(within(Field::WarpsOfConsumers, warps, WARPS as u64, WARPS as u64))
            }
            ScheduleKind::Cooperative => {
                let field = Field::WarpsOfConsumers;
                hold!(within(field, warps, WARPS as u64, (WARPS * MOST_CONSUMERS) as u64));
                multiple(field, warps, WARPS as u64, (WARPS * MOST_CONSUMERS) as u64)
            }
        }
    }

    /// Checks that each share of a stage is a multiple of a kilobyte, as the ring requires.
    const fn whole_stages(&self) -> Result<(), Refusal> {
        let mut i = 0;
        while i < OperandKind::BOTH.len() {
            let operand = OperandKind::BOTH[i];
            let tile = self.tile(operand);
            let row = ElementKind::F32.bytes_of(tile.mn() / self.ring.shares(operand));
            // The smallest power of two whose product with a row is a multiple of a kilobyte. A row
            // has at least 32 bytes.
            let of = ALIGNMENT_BYTES
                >> if row.trailing_zeros() < 10 { row.trailing_zeros() } else { 10 };
            hold!(explained(
                multiple(Field::Threadblock(Axis::K), tile.k() as u64, of as u64, DEPTHS.1),
                Because::Words("stages are multiples of 1024 bytes")
            ));
            i += 1;
        }
        Ok(())
    }
}

/// Returns the nearest valid number of lanes along M, and the greater of two.
const fn nearest_lanes(lanes: u32) -> u32 {
    let (mut best, most) = LANES;
    while best < most && lanes >= best + best / 2 {
        best *= 2;
    }
    best
}
