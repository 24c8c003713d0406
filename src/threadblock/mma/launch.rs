//! Launches of kernels whose threads all follow one schedule.

use crate::{
    codegen::GemmParams,
    nest::{GemmDesc, plan::Geometry},
    operand::Problem,
    refusal::Refusal,
    shape::Mn,
    threadblock::{Grid, Launch, Partials, launch::cleared},
};

/// Returns the launch of a problem for a kernel with this geometry. The device holds `resident` of
/// its CTAs at once.
pub(crate) fn launch(
    desc: &GemmDesc,
    problem: &Problem,
    (geometry, resident): (&Geometry, u32),
) -> Result<Launch, Refusal> {
    let tile = geometry.tile;
    let (kinds, tiles_k) = (
        (geometry.work, desc.swizzle(), desc.split_k()),
        problem.k.div_ceil(tile.k as usize) as u32,
    );
    let (partials, clusters) = Partials::for_launch(desc, problem, resident);
    let work = problem.work(
        kinds,
        (desc.tile_of_d(tile), Mn::ONE, geometry.group_step),
        tiles_k,
        clusters,
    )?;
    let partials = partials.at(problem);
    let params = GemmParams::new(desc, problem, &work, partials.as_ref());
    let grid = Grid::with_blocks(work.clusters, geometry.threads, geometry.shared_bytes);
    let reduction = geometry.reduction_of(desc, problem, work.rectangles().into())?;
    Ok(Launch {
        clear: cleared(desc, problem, partials.and_then(|partials| partials.cleared())),
        reduction,
        ..Launch::new(grid, &params)
    })
}
