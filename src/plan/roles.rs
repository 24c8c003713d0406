//! A description of the family, unfolded: its ring, its maps, its numbers.

use super::RingProgram;
use crate::{
    desc::WarpSpecializedDesc,
    epilogue::{tensor_store::StagingMap, tile_store::AccumulatorMap as ThreadAccumulators},
    index::{IndexMap, Map, Tabled, at},
    numeric::{
        EmulationKind,
        emulation::{EmulationBlocks, shift_of, unscaled},
    },
    operand::OperandKind,
    threadblock::{ProductRecords, StageTile, Units, WarpSpecialized, Work},
    warp::{
        mma_simt::{DepthMap, FragmentMap},
        mma_warpgroup::{AccumulatorMap, ROWS, STEPS, SwizzleMode},
    },
};
use std::sync::Arc;

/// How operands are decomposed, and how their products are put together. Tests change one thing and
/// watch.
#[derive(Clone, Copy)]
pub struct EmulationProgram {
    /// The bits of a number's parts, whose row has such a shift.
    pub parts: fn(EmulationKind, f32, i32) -> [u16; 3],
    /// The bits of what lies behind the end of K in each part.
    pub padding: u16,
    /// By which power of two rows of such a largest magnitude are scaled.
    pub shift: fn(u32) -> i32,
    /// Whether rows that cannot be scaled are refused.
    pub windowed: bool,
    /// Which block of an operand a k-tile reads.
    pub block: fn(&EmulationBlocks, OperandKind, u32) -> u32,
    /// What becomes of a sum whose row and column have shifts that add up to so much.
    pub unscaled: fn(f32, i32) -> f32,
}

impl EmulationProgram {
    /// As [`numeric::emulation`](crate::numeric::emulation) has it.
    pub const RIGHT: Self = Self {
        parts: EmulationKind::parts_of,
        padding: 0,
        shift: shift_of,
        windowed: true,
        block: EmulationBlocks::block,
        unscaled,
    };
}

/// How an operand's tile comes into a stage, and how products read it.
#[derive(Clone)]
pub struct OperandMaps {
    /// Rows of A, or columns of B, in one TMA box.
    pub box_mn: u32,
    /// The swizzle under which it writes.
    pub copy_swizzle: SwizzleMode,
    /// K from one tile to the next, in elements.
    pub tile_k: u32,
    /// (share, copy) to the row or column of the block's tile at which a box begins.
    pub corner: Map,
    /// (share, copy) to the byte of the operand's part of a stage at which a box lands.
    pub landing: Map,
    /// (instruction's tile along M or N, step along K) to the byte of the operand's part of a stage
    /// at which a descriptor starts.
    pub start: Map,
    /// (thread of each instruction's rows in turn, element of its registers of a stage) to the byte
    /// of the operand's part of a stage from which the thread loads it; of no points where
    /// descriptors say what is read.
    pub fragments: Map,
    /// The descriptor's leading byte offset.
    pub leading: u32,
    /// The descriptor's stride byte offset.
    pub stride: u32,
    /// The descriptor's swizzle.
    pub swizzle: SwizzleMode,
}

/// How a subtile of C comes into its staging buffer, and one of D leaves it.
#[derive(Clone)]
pub struct SubtileMaps {
    /// (0, subtile) to `row * warp N + column` of the consumer's tile: where in C or D it belongs.
    pub subtile: Map,
    /// (row, column) of the subtile to a byte of the buffer: where threads find it.
    pub staging: Map,
    /// The swizzle under which TMA writes and reads the buffer.
    pub swizzle: SwizzleMode,
}

/// What the host executor runs of a warp-specialized description. Tests change one thing and watch.
#[derive(Clone)]
pub struct WarpSpecializedProgram {
    /// The description.
    pub desc: WarpSpecializedDesc,
    /// The same of what is multiplied: of its parts, where f32 is emulated.
    pub multiplied: WarpSpecializedDesc,
    /// How f32 is emulated, where it is, and which block of K a tile reads.
    pub emulation: EmulationProgram,
    /// Its components.
    pub components: WarpSpecialized,
    /// The ring: counts, phases, ranks and schedules.
    pub ring: RingProgram,
    /// Of A and of B.
    pub operands: [OperandMaps; 2],
    /// (0, consumer) to `row * threadblock N + column`: where its tile begins in the block's.
    pub part: Map,
    /// (thread, accumulator) to `row * instruction N + column`.
    pub accumulator: Map,
    /// (0, subtile) to `row * warp N + column` of the consumer's tile: which accumulators a subtile
    /// is made of.
    pub subtile: Map,
    /// (row, column) of a subtile to a byte of the staging buffer: where it is staged.
    pub staging: Map,
    /// From C to there, where C comes through the staging buffers.
    pub fetch: SubtileMaps,
    /// From there to D.
    pub store: SubtileMaps,
    /// What threads do where they multiply and store; `None` where warpgroups do, to which all maps
    /// above belong but for those of boxes.
    pub threads: Option<ThreadMaps>,
    /// Which units of work a block takes.
    pub units: Units,
    /// (product, piece) to the word of its place, where the maps and the addresses of an array's
    /// products lie in memory: as the kernel finds them.
    pub records: Map,
    /// Persistent clusters, where there are tiles for so many.
    pub clusters: u32,
}

/// Products whose records the host finds: a launch of it has no more.
const MOST_RECORDS: u32 = 1 << 20;

/// Few enough that each takes several tiles of a small D.
const CLUSTERS: u32 = 3;

/// A formula over a rectangle of points, as a table.
fn table(rows: u32, columns: u32, codomain: u32, f: impl Fn(u32, u32) -> Option<u32>) -> Map {
    Arc::new(Tabled::by(at(rows, columns), codomain, |point| f(point.row, point.column)))
}

/// The map of no points.
fn nowhere() -> Map {
    table(0, 0, 0, |_, _| None)
}

impl WarpSpecializedProgram {
    /// The program of a description, of what is multiplied, and of its components.
    pub(crate) fn of(
        [desc, multiplied]: [WarpSpecializedDesc; 2],
        components: WarpSpecialized,
    ) -> Self {
        let [block, warp] = [desc.knobs.threadblock, desc.knobs.warp];
        let consumers = components.consumers;
        let threads = ThreadMaps::of(&desc, &components);
        let staging: Map = Arc::new(Tabled::of(&StagingMap::of(&components)));
        let across = warp.n.checked_div(components.subtile_columns).unwrap_or(1);
        let subtile =
            table(1, u32::from(components.options.subtiles), warp.m * warp.n, |_, subtile| {
                Some(
                    subtile / across * ROWS * warp.n
                        + subtile % across * components.subtile_columns,
                )
            });
        let subtiles = SubtileMaps {
            subtile: subtile.clone(),
            staging: staging.clone(),
            swizzle: components.subtile_swizzle,
        };
        Self {
            desc,
            multiplied,
            emulation: EmulationProgram::RIGHT,
            ring: RingProgram::of(components.ring, &components.options),
            operands: OperandKind::BOTH
                .map(|operand| OperandMaps::of(&multiplied, &components, operand)),
            part: table(1, components.ring.consumers, block.m * block.n, |_, consumer| {
                Some(
                    consumer % consumers.m * warp.m * block.n
                        + consumer / consumers.m % consumers.n * warp.n,
                )
            }),
            accumulator: components.warpgroup().map_or_else(nowhere, |mma| {
                Arc::new(Tabled::of(
                    &AccumulatorMap::of(&mma.instruction()).with_rows(components.fragment_rows()),
                ))
            }),
            subtile,
            staging,
            fetch: subtiles.clone(),
            store: subtiles,
            units: Arc::new(Work::unit),
            records: Arc::new(ProductRecords { products: MOST_RECORDS }),
            clusters: if desc.streams() {
                desc.sum().most_streams() / components.ring.blocks().max(1)
            } else {
                CLUSTERS
            },
            components,
            threads,
        }
    }
}

impl OperandMaps {
    fn of(desc: &WarpSpecializedDesc, components: &WarpSpecialized, operand: OperandKind) -> Self {
        let tile = components.tile(operand);
        let (shares, copies, box_mn) = (
            components.ring.shares(operand),
            components.copies(operand),
            components.box_mn(operand),
        );
        let corner = |share, copy| Some(share * (tile.mn() / shares) + copy * box_mn);
        let landing = |share, copy| Some(corner(share, copy)? * tile.row_bytes());
        let boxes = Self {
            box_mn,
            copy_swizzle: tile.swizzle(),
            tile_k: desc.knobs.threadblock.k,
            corner: table(shares, copies, tile.mn(), corner),
            landing: table(shares, copies, tile.bytes(), landing),
            start: nowhere(),
            fragments: nowhere(),
            leading: 0,
            stride: 0,
            swizzle: SwizzleMode::None,
        };
        if let (OperandKind::A, Some(load)) = (operand, components.fragment_load()) {
            let (domain, bytes) = (load.domain(), load.tile.input().bytes_of(1));
            let byte = |thread, element| Some(load.at(at(thread, element))? * bytes);
            return Self {
                fragments: table(domain.row, domain.column, load.tile.bytes(), byte),
                ..boxes
            };
        }
        let StageTile::Warpgroup(tile) = tile else { return boxes };
        let extent = instruction_mn(desc, operand);
        let of_tile = |mn| tile.descriptor(0, mn);
        let first = of_tile(0);
        Self {
            start: table(tile.mn() / extent, STEPS, tile.bytes(), |number, step| {
                Some(of_tile(number * extent)?.start() + tile.step_bytes(step)?)
            }),
            leading: first.map_or(0, |descriptor| descriptor.leading()),
            stride: first.map_or(0, |descriptor| descriptor.stride()),
            swizzle: tile.swizzle(),
            ..boxes
        }
    }
}

/// What threads do with a stage, and with what they hold. Threads are those that share a tile of D.
#[derive(Clone)]
pub struct ThreadMaps {
    /// Of A and of B: (thread, fragment element) to the row or column of the block's tile.
    pub fragment: [Map; 2],
    /// Of A and of B: (row or column of the block's tile, k) to the byte of the operand's part of a
    /// stage.
    pub stage: [Map; 2],
    /// (thread, k-block) to k.
    pub depth: Map,
    /// (thread, accumulator) to `row * threadblock N + column`: where it belongs.
    pub accumulator: Map,
}

impl ThreadMaps {
    /// Those of a description; none where warpgroups multiply.
    fn of(desc: &WarpSpecializedDesc, components: &WarpSpecialized) -> Option<Self> {
        let tiles = *components.threads()?;
        let tabled = |map: &dyn IndexMap| -> Map { Arc::new(Tabled::of(map)) };
        let stage = |operand| -> Map {
            let (tile, bytes) =
                (components.boxed_tile(operand), desc.class.operand(operand).element.bytes_of(1));
            Arc::new(Tabled::by(tile.domain(), tile.codomain() * bytes, |point| {
                Some(tile.at(point)? * bytes)
            }))
        };
        Some(Self {
            fragment: OperandKind::BOTH.map(|operand| tabled(&FragmentMap::of(tiles, operand))),
            stage: OperandKind::BOTH.map(stage),
            depth: tabled(&DepthMap(tiles)),
            accumulator: tabled(&ThreadAccumulators(tiles)),
        })
    }
}

/// Rows of A, or columns of B, that an instruction reads.
pub(crate) const fn instruction_mn(desc: &WarpSpecializedDesc, operand: OperandKind) -> u32 {
    match operand {
        OperandKind::A => ROWS,
        OperandKind::B => desc.knobs.instruction.n,
    }
}
