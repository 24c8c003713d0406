//! Consumers on the CUDA cores: each thread multiplies its own tile, true `f32`.
//!
//! ```text
//! for each tile along K            A and B lie along MN: k rows of mn elements, boxes without a swizzle, one behind the other
//!     for each k of it             while one k is multiplied, the fragments of the next are read, 16 bytes at a time; during the
//!                                  last, those of the next tile's first, so that no warp waits between stages
//!         sums += a outer b        a fused multiply-add for each product, k ascending: the bits of every other main loop
//! epilogue, to D by the threads    from registers: nothing is staged
//! ```
//!
//! | knob | here |
//! |---|---|
//! | `threadblock` | what a block computes at a time, 8 to 64 of K deep |
//! | `warp` | what a *warp* computes, as deep: four of them are a consumer, and M runs fastest, as in the main loops of one schedule |
//! | `instruction` | what a *thread* computes: 4 to 16 each way, 1 deep. A warp is a grid of 32 of them, 2 to 16 down |
//! | `cluster` | as on tensor cores; each block copies whole warps' parts |
//! | `align_c` | elements of D that a thread stores at once, 4 at most |
//!
//! An operand that is contiguous along K is transposed into the workspace of the call first.
//!
//! Twin: `kernels/threadblock/mma_warp_specialized/simt.cuh`.

use super::{ConsumerMma, PARTNERS, WarpSpecialized, shapes::MOST_TILE};
use crate::{
    desc::WarpSpecializedDesc,
    numeric::ElementKind,
    operand::{Axis, OperandKind},
    refusal::{
        Field, Legal, Refusal, Word, hold,
        rules::{multiple, within},
    },
    schedule::{RoleOptions, ScheduleKind},
    shape::Mn,
    threadblock::{
        BoxedTile, MainloopKind, Pipeline, SmemTile, TensorSwizzle,
        pipeline::{ALIGNMENT_BYTES, MOST_CONSUMERS, WARPS},
        thread_map::WARP,
    },
    warp::{
        InterleaveKind, LaneArrangement,
        mma_simt::{ThreadTiles, interleave},
    },
};

/// What the extents of a thread's tile are multiples of: one access to shared memory.
const VECTOR: u32 = 4;

/// The largest extent of a thread's tile.
const MOST_THREAD: u64 = 16;

/// The fewest lanes of a warp along M, and the most: with them, no warp's part is wider than a box.
const LANES: (u32, u32) = (2, 16);

/// Depths of a stage: the least, which is also what they are multiples of, and the largest. Loops over K are unrolled.
const DEPTHS: (u64, u64) = (8, 64);

impl WarpSpecialized {
    /// The components of a description on the CUDA cores.
    pub(super) const fn of_threads(d: &WarpSpecializedDesc) -> Result<Self, Refusal> {
        let f32 = ElementKind::F32;
        if !(d.class.a.element.is(f32)
            && d.class.b.element.is(f32)
            && d.class.accumulator.is(f32)
            && d.class.output.element.is(f32))
        {
            return Err(Refusal::OnTensorCores { mainloop: Word(MainloopKind::WarpSpecialized.name()), op: d.class.op });
        }
        hold!(Self::thread_shapes(d));
        hold!(Self::cluster_shape(d));
        let block = d.knobs.threadblock;
        let in_turns = matches!(d.knobs.schedule, ScheduleKind::Pingpong);
        let (warp, thread) = (d.knobs.warp, d.knobs.instruction);
        let tiles = ThreadTiles {
            block,
            warp,
            lanes: LaneArrangement { m: warp.m / thread.m, n: warp.n / thread.n },
            interleave: [interleave(InterleaveKind::Vector, f32, thread.m), interleave(InterleaveKind::Vector, f32, thread.n)],
        };
        let warps = tiles.warps();
        let count = warps.m * warps.n / WARPS;
        let mma = ConsumerMma::Threads(tiles);
        let ring = Pipeline {
            stages: d.knobs.stages,
            stage_bytes: [mma.tile(OperandKind::A).bytes(), mma.tile(OperandKind::B).bytes()],
            consumers: if in_turns { PARTNERS } else { count },
            in_turns,
            multicast: Self::multicast(d),
            staging_buffers: 0,
            staging_bytes: 0,
            source: false,
        };
        let registers = Self::registers(&ring);
        let options = RoleOptions { pending: 0, promoted_parts: None, fragments: false, slices: 0, by_threads: true, registers };
        let consumers = Mn { m: count, n: 1 };
        let this = Self {
            ring,
            consumers,
            repeats: Mn { m: 1, n: 1 },
            mma,
            options,
            layout_c: d.class.output.layout,
            slice_columns: 0,
            slice_swizzle: TensorSwizzle::None,
        };
        hold!(this.shared_evenly());
        hold!(this.whole_stages());
        hold!(ring.check());
        Ok(this)
    }

    /// An operand's tile of a stage, as threads read it: boxes of the copy engine.
    pub const fn boxed_tile(&self, operand: OperandKind) -> BoxedTile {
        let tile = self.tile(operand);
        let one = SmemTile { along: tile.along(), mn: self.box_mn(operand), k: tile.k(), padding: 0, bits: 0, base: 0, shift: 0 };
        BoxedTile { one, mn: tile.mn() }
    }

    /// Whether the tiles of threads fill those of warps, and those the block's, with whole warpgroups.
    const fn thread_shapes(d: &WarpSpecializedDesc) -> Result<(), Refusal> {
        let (tb, warp, thread) = (d.knobs.threadblock, d.knobs.warp, d.knobs.instruction);
        let (vector, most_tile) = (VECTOR as u64, MOST_TILE as u64);
        hold!(within(Field::Instruction(Axis::M), thread.m as u64, vector, MOST_THREAD));
        hold!(multiple(Field::Instruction(Axis::M), thread.m as u64, vector, MOST_THREAD));
        hold!(within(Field::Instruction(Axis::N), thread.n as u64, vector, MOST_THREAD));
        hold!(multiple(Field::Instruction(Axis::N), thread.n as u64, vector, MOST_THREAD));
        hold!(within(Field::Instruction(Axis::K), thread.k as u64, 1, 1));
        let lanes = nearest_lanes(warp.m / thread.m);
        if warp.m != lanes * thread.m {
            let (legal, nearest) = (Legal::LanesTimesInstruction, (lanes * thread.m) as u64);
            return Err(Refusal::NotOneOf { field: Field::Warp(Axis::M), value: warp.m as u64, legal, nearest });
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
        match d.knobs.schedule {
            ScheduleKind::Pingpong => within(Field::PingpongWarps, warps, WARPS as u64, WARPS as u64),
            ScheduleKind::Cooperative => {
                let field = Field::ConsumerWarps;
                hold!(within(field, warps, WARPS as u64, (WARPS * MOST_CONSUMERS) as u64));
                multiple(field, warps, WARPS as u64, (WARPS * MOST_CONSUMERS) as u64)
            }
        }
    }

    /// Each share of a stage is a whole number of kilobytes, as the ring has it.
    const fn whole_stages(&self) -> Result<(), Refusal> {
        let mut i = 0;
        while i < OperandKind::BOTH.len() {
            let operand = OperandKind::BOTH[i];
            let tile = self.tile(operand);
            let row = ElementKind::F32.bytes_of(tile.mn() / self.ring.shares(operand));
            // The least power of two whose product with a row is one: a row is of 32 bytes at least.
            let of = ALIGNMENT_BYTES >> if row.trailing_zeros() < 10 { row.trailing_zeros() } else { 10 };
            hold!(multiple(Field::ThreadblockKInKilobytes, tile.k() as u64, of as u64, DEPTHS.1));
            i += 1;
        }
        Ok(())
    }
}

/// The legal number of lanes along M that is nearest; of two such, the greater.
const fn nearest_lanes(lanes: u32) -> u32 {
    let (mut best, most) = LANES;
    while best < most && lanes >= best + best / 2 {
        best *= 2;
    }
    best
}
