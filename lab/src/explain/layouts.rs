//! The layouts of a kernel's maps in CuTe's notation.

use super::{mma_sync, tma_ring};
use falchion::warp::TiledMma;
use falchion::{
    Error,
    epilogue::tile_store::{AccumulatorMap, PartialsMap},
    internals::{index::IndexMap, operand::transpose::TransposeDesc, shape::OperandKind},
    layout::algebra::Composed,
    nest::GemmDesc,
    threadblock::{Mainloop, MmaBase},
    warp::{
        ThreadTiles,
        thread_maps::{FragmentMap, StepMap},
    },
};

/// A map of a kernel, and its layout if it has one.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct StatedLayout {
    /// Name of the map, for example `A in shared memory`.
    pub what: String,
    /// Domain and codomain, for example `(m, k) to an element`.
    pub maps: &'static str,
    /// The layout in CuTe's notation; none if the map is not affine up to one swizzle.
    pub layout: Option<String>,
}

pub(super) fn stated(
    what: impl Into<String>,
    maps: &'static str,
    layout: Option<Composed>,
) -> StatedLayout {
    StatedLayout { what: what.into(), maps, layout: layout.map(|layout| layout.to_string()) }
}

/// Returns the maps of a valid description: places of operands, copies by threads, fragments and
/// accumulators in registers, and the store of D. A and B are those of the kernel.
///
/// ```
/// use falchion::prelude::*;
/// use falchion_lab::explain::layouts;
/// let desc = Gemm::<f32, ColMajor, f32, RowMajor, f32, RowMajor>::DESC;
/// let (layouts, tile) = (layouts(&desc)?, desc.threadblock());
/// let of = |what| layouts.iter().find(|stated| stated.what == what).and_then(|stated| stated.layout.clone());
/// // A column-major A comes as it lies: a row for each k.
/// assert_eq!(of("A in shared memory"), Some(format!("(_{0},_{1}):(_1,_{0})", tile.m, tile.k)));
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// # Errors
/// [`Error::Refused`] if the description is invalid.
pub fn layouts(desc: &GemmDesc) -> Result<Vec<StatedLayout>, Error> {
    desc.check()?;
    match desc.mainloop {
        Mainloop::TmaRing(_) => tma_ring::layouts(desc),
        _ => Ok(thread_layouts(&desc.one_schedule()?.base)),
    }
}

/// Returns the name of the map of an operand's tile.
pub(super) const fn tile_of(operand: OperandKind) -> &'static str {
    match operand {
        OperandKind::A => "(m, k) to an element",
        OperandKind::B => "(n, k) to an element",
    }
}

fn thread_layouts(base: &MmaBase) -> Vec<StatedLayout> {
    let mut found = Vec::new();
    for operand in OperandKind::BOTH {
        let (name, facts) = (operand.name(), base.operand(operand));
        found.push(stated(
            format!("{name} in shared memory"),
            tile_of(operand),
            facts.smem.layout(),
        ));
        found.push(stated(
            format!("threads that copy {name}"),
            "(thread, access) to a vector",
            facts.thread_map().layout(),
        ));
    }
    match &base.mma {
        TiledMma::MmaSync(_, instruction) => found.extend(mma_sync::layouts(base, instruction)),
        TiledMma::Simt(_) | TiledMma::Wgmma(..) | TiledMma::Unsupported => {
            found.extend(tile_layouts(&base.tiles))
        }
    }
    if base.tiles.warps().k > 1 {
        found.push(stated(
            "warp slices",
            "(thread, k-block) to k",
            StepMap { tiles: base.tiles, step: base.step() }.layout(),
        ));
        found.push(stated(
            "partials of warp slices",
            "(thread, accumulator) to a place",
            PartialsMap(base.tiles).layout(),
        ));
    }
    found
}

/// Returns the maps of threads that multiply, each with its own tile.
pub(super) fn tile_layouts(tiles: &ThreadTiles) -> Vec<StatedLayout> {
    let mut found = vec![stated("lanes", "lane to m * lanes along N + n", tiles.lanes.layout())];
    for (operand, maps) in
        OperandKind::BOTH.into_iter().zip(["(thread, element) to m", "(thread, element) to n"])
    {
        found.push(stated(
            format!("fragment of {}", operand.name()),
            maps,
            FragmentMap::new(*tiles, operand).layout(),
        ));
    }
    found.push(stated(
        "accumulators",
        "(thread, accumulator) to m * N + n",
        AccumulatorMap(*tiles).layout(),
    ));
    found
}

/// Returns the maps of a valid transpose.
pub fn layouts_of_transpose(desc: &TransposeDesc) -> Vec<StatedLayout> {
    let (fetch, write) = (desc.fetch().layout(), desc.write().layout());
    let mut found = vec![stated("threads that read A", "(thread, step) to a piece", fetch)];
    if desc.is_gathered() {
        found.push(stated(
            "lines in shared memory",
            "(line, element) to an element",
            desc.gathered().layout(),
        ));
    } else if desc.is_staged() {
        found.push(stated(
            "tile in shared memory",
            "(row of A, column of A) to an element",
            desc.smem().layout(),
        ));
    }
    found.push(stated("threads that write D", "(thread, step) to a piece", write));
    found
}
