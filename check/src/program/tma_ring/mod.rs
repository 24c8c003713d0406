//! The program of a warp-specialized description: its ring, maps, and counts.

mod ring;
mod wgmma;

pub use ring::RingProgram;

use falchion::{
    Refusal,
    epilogue::{tensor_store::StagingMap, tile_store::AccumulatorMap as ThreadAccumulators},
    internals::{
        host::shared::ring::{EmulationProgram, clusters},
        index::{IndexMap, Map, Tabled, at},
        shape::OperandKind,
    },
    nest::{Addressing, GemmDesc},
    threadblock::{ProductRecords, StageTile, SwizzleMode, Units, WarpSpecialized, Work},
    warp::{
        TiledMma,
        thread_maps::{DepthMap, FragmentMap},
        warpgroup::{FragmentRows, ROWS},
        wgmma::AccumulatorMap,
    },
};
use std::sync::Arc;

/// The maps by which an operand's tile enters a stage and by which `wgmma` reads it.
#[derive(Clone)]
pub struct OperandMaps {
    /// Rows of A, or columns of B, in one TMA box.
    pub box_mn: u32,
    /// Swizzle with which TMA writes.
    pub copy_swizzle: SwizzleMode,
    /// Elements along K from one tile to the next.
    pub tile_k: u32,
    /// (share, copy) to the row or column of the CTA's tile at which a box begins.
    pub corner: Map,
    /// (share, copy) to the byte of the operand's part of a stage at which a box lands.
    pub landing: Map,
    /// (instruction's tile along M or N, k-step) to the byte of the operand's part of a stage at
    /// which a descriptor starts.
    pub start: Map,
    /// (thread of each instruction's rows in turn, register element of a stage) to the byte from
    /// which the thread loads, in the operand's part of a stage. Empty if descriptors address the
    /// operand.
    pub fragments: Map,
    /// Leading byte offset of the descriptor.
    pub leading: u32,
    /// Stride byte offset of the descriptor.
    pub stride: u32,
    /// Swizzle of the descriptor.
    pub swizzle: SwizzleMode,
}

/// The maps by which a subtile of C enters its staging buffer, or a subtile of D leaves it.
#[derive(Clone)]
pub struct SubtileMaps {
    /// (0, subtile) to `row * warp N + column` of the consumer's tile: the subtile's origin in C or
    /// D.
    pub subtile: Map,
    /// (row, column) of the subtile to the byte of the buffer at which threads access it.
    pub staging: Map,
    /// Swizzle with which TMA writes and reads the buffer.
    pub swizzle: SwizzleMode,
}

/// The program of a warp-specialized kernel for the host executor. Tests change one field and
/// observe the effect.
#[derive(Clone)]
pub struct WarpSpecializedProgram {
    /// The description.
    pub desc: GemmDesc,
    /// The description of the multiplied operands: if f32 is emulated, of their terms.
    pub multiplied: GemmDesc,
    /// Emulation of f32, and the block of K that a tile reads.
    pub emulation: EmulationProgram,
    /// Components of the kernel.
    pub components: WarpSpecialized,
    /// The ring: counts, phases, ranks, and schedules.
    pub ring: RingProgram,
    /// Maps of A and B.
    pub operands: [OperandMaps; 2],
    /// (0, consumer) to `row * threadblock N + column`: the origin of its tile in the CTA's tile.
    pub consumer_tile: Map,
    /// (thread, accumulator) to `row * instruction N + column`.
    pub accumulator: Map,
    /// (0, subtile) to `row * warp N + column` of the consumer's tile: the first accumulator of a
    /// subtile.
    pub subtile: Map,
    /// (row, column) of a subtile to the byte of the staging buffer that holds it.
    pub staging: Map,
    /// Maps from C to the staging buffers, if C is staged.
    pub fetch: SubtileMaps,
    /// Maps from the staging buffers to D.
    pub store: SubtileMaps,
    /// Maps of the threads that multiply and store. If `None`, warpgroups multiply and store, and
    /// all maps above describe warpgroups. If `Some`, only the maps of boxes above apply.
    pub threads: Option<ThreadMaps>,
    /// Assignment of work units to CTAs.
    pub units: Units,
    /// (GEMM, piece) to the word of an array's records at which the piece begins. The kernel uses
    /// the same map.
    pub records: Map,
    /// Number of persistent clusters, limited by the number of tiles.
    pub clusters: u32,
}

/// Returns the map from (thread, accumulator) to `row * instruction N + column`, for an assignment
/// of rows to threads. It is empty if threads multiply.
pub(crate) fn accumulators(components: &WarpSpecialized, rows: FragmentRows) -> Map {
    match &components.mma {
        TiledMma::Wgmma(mma, _) => {
            Arc::new(AccumulatorMap::new(&mma.instruction()).with_rows(rows))
        }
        _ => nowhere(),
    }
}

/// Returns a table of `f` over all points of a `rows` x `columns` rectangle.
fn table(rows: u32, columns: u32, codomain: u32, f: impl Fn(u32, u32) -> Option<u32>) -> Map {
    Arc::new(Tabled::by(at(rows, columns), codomain, |point| f(point.row, point.column)))
}

/// Returns the empty map.
fn nowhere() -> Map {
    table(0, 0, 0, |_, _| None)
}

impl WarpSpecializedProgram {
    /// Returns the program of a description.
    ///
    /// # Errors
    /// A [`Refusal`] of the description, of its main loop, or of the tiles.
    pub fn new(desc: &GemmDesc) -> Result<Self, Refusal> {
        desc.plan()?;
        // The executor gathers lines before the program runs.
        let desc = &desc.for_addressing(Addressing { gathers: [false; 2], ..desc.addressing() });
        Ok(Self::with_components([*desc, desc.multiplied()], WarpSpecialized::new(desc)?))
    }

    /// Returns the program of a description, of the multiplied operands, and of its components.
    fn with_components([desc, multiplied]: [GemmDesc; 2], components: WarpSpecialized) -> Self {
        let [block, warp] = [desc.threadblock(), desc.warp()];
        let consumers = components.consumers;
        let threads = ThreadMaps::new(&desc, &components);
        let staging: Map = Arc::new(Tabled::new(&StagingMap::new(&components)));
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
            ring: RingProgram::new(components.ring, &components.options),
            operands: OperandKind::BOTH
                .map(|operand| OperandMaps::new(&multiplied, &components, operand)),
            consumer_tile: table(1, components.ring.consumers, block.m * block.n, |_, consumer| {
                Some(
                    consumer % consumers.m * warp.m * block.n
                        + consumer / consumers.m % consumers.n * warp.n,
                )
            }),
            accumulator: Arc::new(Tabled::new(&*accumulators(
                &components,
                components.fragment_rows(),
            ))),
            subtile,
            staging,
            fetch: subtiles.clone(),
            store: subtiles,
            units: Arc::new(Work::unit),
            records: Arc::new(ProductRecords::on_host(true)),
            clusters: clusters(&desc),
            components,
            threads,
        }
    }
}

impl OperandMaps {
    fn new(desc: &GemmDesc, components: &WarpSpecialized, operand: OperandKind) -> Self {
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
            tile_k: desc.threadblock().k,
            corner: table(shares, copies, tile.mn(), corner),
            landing: table(shares, copies, tile.bytes(), landing),
            start: nowhere(),
            fragments: nowhere(),
            leading: 0,
            stride: 0,
            swizzle: SwizzleMode::None,
        };
        match (&components.mma, tile) {
            (TiledMma::Wgmma(_, Some(load)), _) if operand == OperandKind::A => boxes.loaded(load),
            (_, StageTile::Warpgroup(tile)) => {
                boxes.described(&tile, instruction_mn(desc, operand))
            }
            (_, StageTile::Threads { .. }) => boxes,
        }
    }
}

/// The maps of the threads that read a stage and store their accumulators. The thread index counts
/// the threads that share a tile of D.
#[derive(Clone)]
pub struct ThreadMaps {
    /// For A and B: (thread, fragment element) to the row or column of the CTA's tile.
    pub fragment: [Map; 2],
    /// For A and B: (row or column of the CTA's tile, k) to the byte of the operand's part of a
    /// stage.
    pub stage: [Map; 2],
    /// (thread, k-block) to k.
    pub depth: Map,
    /// (thread, accumulator) to `row * threadblock N + column`.
    pub accumulator: Map,
}

impl ThreadMaps {
    /// Returns the maps of a description, or `None` if warpgroups multiply.
    fn new(desc: &GemmDesc, components: &WarpSpecialized) -> Option<Self> {
        let tiles = *components.threads()?;
        let tabled = |map: &dyn IndexMap| -> Map { Arc::new(Tabled::new(map)) };
        let stage = |operand| -> Map {
            let (tile, bytes) =
                (components.boxed_tile(operand), desc.operand(operand).stored.bytes_of(1));
            Arc::new(Tabled::by(tile.domain(), tile.codomain() * bytes, |point| {
                Some(tile.at(point)? * bytes)
            }))
        };
        Some(Self {
            fragment: OperandKind::BOTH.map(|operand| tabled(&FragmentMap::new(tiles, operand))),
            stage: OperandKind::BOTH.map(stage),
            depth: tabled(&DepthMap(tiles)),
            accumulator: tabled(&ThreadAccumulators(tiles)),
        })
    }
}

/// Returns the rows of A, or columns of B, that one instruction reads.
pub(crate) const fn instruction_mn(desc: &GemmDesc, operand: OperandKind) -> u32 {
    match operand {
        OperandKind::A => ROWS,
        OperandKind::B => desc.instruction().n,
    }
}
