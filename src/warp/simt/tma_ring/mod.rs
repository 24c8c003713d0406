//! Consumers of a TMA ring on the CUDA cores: each thread multiplies its own tile in true `f32`.
//!
//! ```text
//! for each k-tile                  A and B are MN-major: k rows of mn elements, boxes without a swizzle, one behind the other
//!     for each k of it             while one k is multiplied, the fragments of the next are read, 16 bytes at a time; during the
//!                                  last, those of the next tile's first, so that no warp waits between stages
//!         accumulators += a outer b        a fused multiply-add for each product, k ascending: the bits of every other main loop
//! epilogue, to D by the threads    from registers: nothing is staged
//! ```
//!
//! | knob | here |
//! |---|---|
//! | `threadblock` | tile of a block; its K extent is 8 to 64 |
//! | `warp` | tile of a *warp*, with the same K extent: four warps are a consumer, and M runs fastest, as in the main loops with one schedule |
//! | `instruction` | tile of a *thread*: 4 to 16 along M and N, 1 along K. A warp is a grid of 32 thread tiles, 2 to 16 of them along M |
//! | `cluster` | as on tensor cores; each block copies the parts of whole warps |
//! | `align_c` | elements of D per store of a thread, 4 at most |
//!
//! A call first transposes a K-major operand into its workspace.
//!
//! Twin: `kernels/warp/simt/tma_ring.cuh`.

mod complete;
mod cuda;
pub(crate) mod defaults;

use crate::{
    arch::WARP,
    nest::{
        GemmDesc,
        features::{Exchange, Features},
    },
    numeric::ElementKind,
    refusal::{
        Field, Legal, Refusal, hold,
        rules::{multiple, within},
    },
    shape::{Axis, Mn, OperandKind},
    threadblock::{
        MainloopKind, StageTile, SwizzleMode,
        smem::Along,
        tma_ring::{
            Consumer, ConsumerRegisters,
            shapes::{MOST_DEPTH, check_row_major_d, check_warp_grid, check_warps},
        },
    },
    warp::{
        InterleaveKind, LaneArrangement, SimtKnobs, ThreadTiles, TiledMma, thread_maps::interleave,
        warpgroup::WARPS,
    },
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
pub(super) const DEPTHS: (u64, u64) = (8, MOST_DEPTH);

impl SimtKnobs {
    /// Returns the consumer of a description. All consumers count along M, because warps form the
    /// grid.
    ///
    /// # Errors
    /// The refusal of other types than f32, and of tiles that threads, warps, and warpgroups do not
    /// divide.
    pub(crate) const fn consumer(d: &GemmDesc) -> Result<Consumer, Refusal> {
        let f32 = ElementKind::F32;
        if !(d.operands[0].stored.is(f32)
            && d.operands[1].stored.is(f32)
            && d.output.accumulator.is(f32)
            && d.output.element.is(f32))
        {
            return Err(Refusal::tensor_cores_only(MainloopKind::TmaRing.name()));
        }
        hold!(check_row_major_d(d, "CUDA cores"));
        hold!(Self::check_thread_tiles(d));
        let (warp, thread) = (d.warp(), d.instruction());
        let tiles = ThreadTiles {
            block: d.threadblock(),
            warp,
            lanes: LaneArrangement { m: warp.m / thread.m, n: warp.n / thread.n, quads: false },
            interleave: [
                interleave(InterleaveKind::Vector, f32, thread.m),
                interleave(InterleaveKind::Vector, f32, thread.n),
            ],
        };
        let warps = tiles.warps();
        Ok(Consumer {
            mma: TiledMma::Simt(tiles),
            consumers: Mn { m: warps.m * warps.n / WARPS, n: 1 },
            repeats: Mn::ONE,
            by_threads: true,
        })
    }

    /// Checks that thread tiles fill warp tiles, that warp tiles divide the threadblock tile, and
    /// that the warps form whole warpgroups.
    const fn check_thread_tiles(d: &GemmDesc) -> Result<(), Refusal> {
        let (tb, warp, thread) = (d.threadblock(), d.warp(), d.instruction());
        let vector = VECTOR as u64;
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
        hold!(check_warp_grid(d));
        check_warps(d)
    }

    /// Returns the tile of an operand in a stage: MN-major, without a swizzle. A warp's part lies
    /// in one box.
    pub(crate) const fn stage_tile(tiles: &ThreadTiles, operand: OperandKind) -> StageTile {
        let extents = tiles.extents(operand);
        StageTile::Threads {
            element: ElementKind::F32,
            along: Along::Mn,
            mn: extents.block,
            k: tiles.block.k,
            multiple: extents.warp,
            swizzle: SwizzleMode::None,
        }
    }

    /// Returns the registers of a consumer thread. The thread holds fragments of the
    /// current k and of the next k.
    pub(crate) const fn consumer_registers(tiles: &ThreadTiles) -> ConsumerRegisters {
        let [m, n] = tiles.thread();
        ConsumerRegisters {
            accumulators: m * n,
            partial_accumulators: 0,
            fragments: 2 * (m + n),
            sum: 1,
            instruction: 0,
        }
    }

    /// Returns the facts for the cost model. A transpose counts as time of its own.
    pub(crate) const fn consumer_features(d: &GemmDesc, exchange: Exchange) -> Features {
        let cluster = d.mainloop.cluster();
        let products = d.threadblock().m as u64 * d.threadblock().n as u64 * 145 / 100;
        let each = if cluster.count() > 1 { products * 17 / 16 } else { products };
        d.features_of_threads(each as f64, exchange)
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

#[cfg(test)]
#[path = "cost_tests/multistage.rs"]
mod multistage;
#[cfg(test)]
mod request_tests;
