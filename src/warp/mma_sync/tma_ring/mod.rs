//! Consumers of a TMA ring with `mma.sync`, for f64, which `wgmma` does not multiply.
//!
//! ```text
//! for each k-tile                  A and B are K-major: rows of 128 bytes, 16 k of f64, with TMA's swizzle of 128 bytes
//!     for each k-block of it       while one is multiplied, the fragments of the next are read, element by element; during the
//!                                  last, those of the next tile's first, so that no warp waits between stages
//!         accumulators += A B      k-blocks ascending: the bits of every other main loop
//! epilogue, to D by the threads    from registers: nothing is staged
//! ```
//!
//! | knob | here |
//! |---|---|
//! | `threadblock` | tile of a block; its K extent is 128 bytes |
//! | `warp` | tile of a warp, with the same K extent: four warps are a consumer, and M runs fastest |
//! | `instruction` | 16x8x4 or 16x8x8, so that a tile has an even number of k-blocks |
//! | `cluster` | as with `wgmma`; each block copies whole eights of rows |
//! | `align_c` | elements of D per store of a thread, 2 at most |
//!
//! A call first transposes an MN-major operand into its workspace.
//!
//! Twin: `kernels/warp/mma_sync/tma_ring.cuh`.

mod complete;
mod cuda;
pub(crate) mod defaults;

use crate::{
    nest::{
        DecompositionKind, GemmDesc,
        features::{Exchange, Features},
    },
    numeric::{ElementKind, Multiplied},
    refusal::{
        Because, Field, Legal, Refusal, hold,
        rules::{explained, multiple, within},
    },
    shape::{Axis, Mn, Mnk, OperandKind},
    threadblock::{
        MainloopKind, StageTile, SwizzleMode,
        smem::Along,
        tma_ring::{
            Consumer, ConsumerRegisters,
            shapes::{check_row_major_d, check_warp_grid, check_warps, no_choice},
        },
    },
    warp::{
        MmaSyncKnobs, ThreadTiles, TiledMma,
        mma_sync::{EIGHT, INTERLEAVE, LANES, WarpInstruction},
        warpgroup::WARPS,
    },
};

/// Size of a row of a stage in bytes: the width of TMA's widest swizzle.
pub(super) const ROW_BYTES: u32 = SwizzleMode::Bytes128.row_bytes();

/// K extents of instructions. A tile has an even number of their k-blocks.
pub(super) const DEPTHS: [u32; 2] = [8, 4];

/// Registers that stay free with the deeper instruction, whose fragment of A has eight adjacent
/// registers. With fewer, NVRTC 13 spilled.
const ALIGNED: u32 = 28;

/// Divisor of the extents of a warp tile, and their maximum.
const WARP_EXTENTS: (u32, u32) = (16, 128);

/// Checks the extents and the depth of a warp tile.
pub(super) const fn check_warp(warp: Mnk) -> Result<(), Refusal> {
    let (of, most) = (WARP_EXTENTS.0 as u64, WARP_EXTENTS.1 as u64);
    hold!(within(Field::Warp(Axis::M), warp.m as u64, of, most));
    hold!(multiple(Field::Warp(Axis::M), warp.m as u64, of, most));
    hold!(within(Field::Warp(Axis::N), warp.n as u64, of, most));
    hold!(multiple(Field::Warp(Axis::N), warp.n as u64, of, most));
    let row = ElementKind::F64.elements_in(ROW_BYTES) as u64;
    within(Field::Warp(Axis::K), warp.k as u64, row, row)
}

impl MmaSyncKnobs {
    /// Returns the consumer of a description.
    ///
    /// # Errors
    /// The refusal of other types than f64, and of tiles that instructions, warps, and warpgroups
    /// do not divide.
    pub(crate) const fn consumer(&self, d: &GemmDesc) -> Result<Consumer, Refusal> {
        let f64 = ElementKind::F64;
        let [a, b] = &d.operands;
        let stored =
            matches!((a.multiplied, b.multiplied), (Multiplied::Stored, Multiplied::Stored));
        if !(a.stored.is(f64) && b.stored.is(f64) && d.output.element.is(f64) && stored) {
            let (mainloop, mma) = (d.mainloop.kind().name(), d.mma.kind());
            let nearest = MainloopKind::first_that_feeds(mma).name();
            return Err(Refusal::not_fed(mainloop, mma.name(), nearest)
                .because(Because::Words("element types other than f64")));
        }
        hold!(check_row_major_d(d, "mma.sync"));
        if d.cuts_by_cluster() {
            let [given, nearest] = [DecompositionKind::SplitKCluster, DecompositionKind::SplitK];
            let refused = no_choice(Field::Decomposition, given.name(), nearest.name());
            hold!(explained(refused, Because::Words("sums of f64")));
        }
        let instruction = hold!(self.checked_instruction(d));
        hold!(self.check_saturate(d.output.accumulator));
        hold!(Self::check_tiles(d, instruction));
        let tiles = ThreadTiles {
            block: d.threadblock(),
            warp: d.warp(),
            lanes: LANES,
            interleave: INTERLEAVE,
        };
        let warps = tiles.warps();
        Ok(Consumer {
            mma: TiledMma::MmaSync(tiles, instruction),
            consumers: Mn { m: warps.m * warps.n / WARPS, n: 1 },
            repeats: Mn::ONE,
            by_threads: true,
        })
    }

    /// Checks that instructions fill warp tiles, that warp tiles divide the threadblock tile, and
    /// that the warps form whole warpgroups.
    const fn check_tiles(d: &GemmDesc, instruction: WarpInstruction) -> Result<(), Refusal> {
        let (k, [deep, shallow]) = (instruction.shape().k, DEPTHS);
        if k != deep && k != shallow {
            let (field, legal) = (Field::Instruction(Axis::K), Legal::OneOf(&DEPTHS));
            return Err(Refusal::not_one_of(field, k as u64, legal, deep as u64));
        }
        let row = ElementKind::F64.elements_in(ROW_BYTES) as u64;
        hold!(within(Field::Threadblock(Axis::K), d.threadblock().k as u64, row, row));
        hold!(check_warp(d.warp()));
        hold!(check_warp_grid(d));
        check_warps(d)
    }

    /// Returns the tile of an operand in a stage: K-major, with rows as wide as the swizzle.
    pub(crate) const fn stage_tile(
        tiles: &ThreadTiles,
        instruction: &WarpInstruction,
        operand: OperandKind,
    ) -> StageTile {
        StageTile::Threads {
            element: instruction.input(operand),
            along: Along::K,
            mn: tiles.extents(operand).block,
            k: tiles.block.k,
            multiple: EIGHT,
            swizzle: SwizzleMode::Bytes128,
        }
    }

    /// Returns the registers of a consumer thread. The thread holds fragments of the current
    /// k-block and of the next one. A number of f64 has two registers.
    pub(crate) const fn consumer_registers(
        tiles: &ThreadTiles,
        instruction: &WarpInstruction,
    ) -> ConsumerRegisters {
        let shape = instruction.shape();
        let words = tiles.warp.m / shape.m * instruction.words(OperandKind::A)
            + tiles.warp.n / shape.n * instruction.words(OperandKind::B);
        ConsumerRegisters {
            accumulators: 2 * tiles.accumulators(),
            partial_accumulators: 0,
            fragments: 2 * 2 * words + if shape.k == DEPTHS[0] { ALIGNED } else { 0 },
            sum: 2,
            instruction: 0,
        }
    }

    /// Returns the facts for the cost model. The instruction takes as long as without a producer
    /// (`cost.rs`), and prologues and epilogues as on CUDA cores. No measurement fits them, because
    /// no selection has the kernel as a candidate.
    pub(crate) const fn consumer_features(d: &GemmDesc, exchange: Exchange) -> Features {
        let tile = d.threadblock();
        d.features_of_threads((tile.m as u64 * tile.n as u64 * 11 / 10) as f64, exchange)
    }
}
