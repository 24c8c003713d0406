//! Launches of kernels whose threads all follow one schedule.

use crate::{
    call::{Grid, Launch, Partials, Problem},
    codegen::GemmParams,
    nest::{GemmDesc, plan::Geometry},
    refusal::Refusal,
    shape::Mn,
};

/// Returns the launch of a problem for a kernel with this geometry. The device holds `resident` of
/// its CTAs at once.
pub(crate) fn launch(
    desc: &GemmDesc,
    problem: &Problem,
    (geometry, resident): (&Geometry, u32),
) -> Result<Launch, Refusal> {
    let tile = geometry.tile;
    let source = problem.read_source();
    let (kinds, tiles_k) = (
        (geometry.work, desc.swizzle(), desc.split_k()),
        problem.k.div_ceil(tile.k as usize) as u32,
    );
    let (partials, clusters) = Partials::for_launch(desc, problem, resident);
    let work = problem.work(kinds, (tile, Mn::ONE, geometry.group_step), tiles_k, clusters)?;
    let partials = partials.at(problem);
    let [split_k, slice_tiles, longer_slices, tickets] = work.slices();
    let tile_tickets = desc.decomposition().tickets(tickets);
    let params = GemmParams {
        a: problem.a.memory.address,
        b: problem.b.memory.address,
        c: source.map_or(0, |c| c.memory.address),
        d: problem.d.memory.address,
        lda: problem.a.leading(desc.operands[0].layout) as i64,
        ldb: problem.b.leading(desc.operands[1].layout) as i64,
        ldc: source.map_or(0, |c| c.leading(desc.frame.d_order())) as i64,
        ldd: problem.d.leading(desc.frame.d_order()) as i64,
        scalars: problem.scalars,
        m: problem.m as i32,
        n: problem.n as i32,
        k: problem.k as i32,
        tiles_k: work.tiles_k,
        tiles_m: work.rows,
        tiles_n: work.columns,
        reads_source: u32::from(source.is_some()),
        batch: problem.batch as u32,
        stride_a: problem.batch_stride(&problem.a) as i64,
        stride_b: problem.batch_stride(&problem.b) as i64,
        stride_c: source.map_or(0, |c| problem.batch_stride(&c)) as i64,
        stride_d: problem.batch_stride(&problem.d) as i64,
        vectors: problem.vector_addresses(),
        slots: partials.map_or(0, |partials| partials.slots().start),
        tickets: partials.map_or(0, |partials| partials.tickets().start),
        split_k,
        slice_tiles,
        longer_slices,
        tile_tickets,
        records: problem.records(),
    };
    let grid = Grid::with_blocks(work.clusters, geometry.threads, geometry.shared_bytes);
    let reduction = geometry.reduction_of(desc, work.rectangles().into())?;
    Ok(Launch {
        clear: partials.and_then(|partials| partials.cleared()),
        reduction,
        ..Launch::new(grid, &params)
    })
}
