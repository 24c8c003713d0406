//! Launches of warp-specialized kernels: tensor maps, and as many clusters as the device holds at
//! once.

use crate::{
    call::{
        DecomposedLayout, Elements, Grid, Launch, POSITIONS, Partials, Problem, TmaTensor, View,
    },
    codegen::{TensorGemmParams, TensorMap},
    layout::Order,
    nest::{GemmDesc, GemmMode, plan::Geometry},
    numeric::ElementKind,
    operand::OperandKind,
    refusal::{Operand, Refusal},
    threadblock::{WarpSpecialized, smem::Along},
};

/// Returns the launch of a problem, whose operands are already as the kernel reads them. `desc` is
/// [`GemmDesc::multiplied`].
pub(crate) fn launch(
    desc: &GemmDesc,
    components: &WarpSpecialized,
    problem: &Problem,
    (geometry, resident): (&Geometry, u32),
) -> Result<Launch, Refusal> {
    let order = desc.frame.d_order();
    let (blocks, source) = (desc.blocks(problem.k), problem.read_source());
    let kinds = (geometry.work, desc.work.swizzle, desc.work.split_k);
    let (partials, clusters) = Partials::for_launch(desc, problem, resident);
    let work = problem.work(
        kinds,
        (geometry.tile, desc.mainloop.cluster(), geometry.group_step),
        blocks.tiles(),
        clusters,
    )?;
    let partials = partials.at(problem);
    let batch = |view: &View<Elements>| match desc.work.mode {
        GemmMode::Array => Some((POSITIONS, view.batch_stride as u64)),
        mode => mode.several().then(|| problem.matrices(view)),
    };
    // Tensor map of an operand; none if K is 0.
    let operand = |operand: OperandKind| {
        let (view, element) = (problem.operand(operand), desc.operand(operand).stored);
        let order = Order::for_operand(operand, components.tile(operand).along().is(Along::K));
        let extents = (problem.mn(operand) as u64, problem.k as u64);
        let map = || {
            components.operand_map(
                operand,
                element,
                extents,
                (view.leading(order) as u64, batch(view)),
            )
        };
        (problem.k > 0)
            .then(|| map().map(|desc| TmaTensor { desc, address: view.memory.address }))
            .transpose()
    };
    // Tensor maps of C and D; none if threads load and store them.
    let subtiles = |operand: Operand, view: View<Elements>| {
        let (element, extents) = (desc.output.element, (problem.m as u64, problem.n as u64));
        let map = || {
            components.subtile_map(
                operand,
                element,
                extents,
                (view.leading(order) as u64, batch(&view)),
            )
        };
        desc.by_tma()
            .then(|| map().map(|desc| TmaTensor { desc, address: view.memory.address }))
            .transpose()
    };
    let of_source = source.map_or(Ok(None), |c| subtiles(Operand::C, c))?;
    let tensors = [
        operand(OperandKind::A)?,
        operand(OperandKind::B)?,
        of_source,
        subtiles(Operand::D, problem.d)?,
    ];
    let read = [Some(problem.a), Some(problem.b), source];
    let lines = OperandKind::BOTH.map(|operand| lines(desc, problem, operand));
    let [split_k, slice_tiles, longer_slices, tickets] = work.slices();
    let tile_tickets = desc.work.decomposition.tickets(tickets);
    let params = TensorGemmParams {
        a: NOTHING,
        b: NOTHING,
        source: NOTHING,
        d: NOTHING,
        c: source.map_or(0, |c| c.memory.address),
        d_address: problem.d.memory.address,
        ldc: source.map_or(0, |c| c.leading(order)) as i64,
        ldd: problem.d.leading(order) as i64,
        scalars: problem.scalars,
        m: problem.m as i32,
        n: problem.n as i32,
        tiles_k: work.tiles_k,
        tiles_m: work.rows,
        tiles_n: work.columns,
        reads_source: u32::from(source.is_some()),
        unscaled: u32::from(source.is_none() && problem.scalars[..2] == [1.0, 0.0]),
        term_blocks: blocks.blocks,
        lines,
        stride_c: source.map_or(0, |c| problem.batch_stride(&c)) as i64,
        stride_d: problem.batch_stride(&problem.d) as i64,
        stride_lines: [&problem.a, &problem.b]
            .map(|terms| ElementKind::F16.matrix_bytes(problem.batch_stride(terms))),
        batch: problem.batch as u32,
        own: read.iter().rev().fold(0, |bits, view| {
            bits << 1 | u32::from(view.is_some_and(|view| problem.matrices(&view).0 > 1))
        }),
        vectors: problem.vector_addresses(),
        slots: partials.map_or(0, |partials| partials.slots().start),
        tickets: partials.map_or(0, |partials| partials.tickets().start),
        split_k,
        slice_tiles,
        longer_slices,
        tile_tickets,
        records: problem.records(),
    };
    let Geometry { threads, shared_bytes, cluster, .. } = *geometry;
    let grid = Grid { clusters: work.clusters, cluster, threads, shared_bytes };
    let tiles = u64::from(work.rectangles()) * u64::from(desc.mainloop.cluster().count());
    let reduction = geometry.reduction_of(desc, tiles)?;
    Ok(Launch {
        tensors,
        clear: partials.and_then(|partials| partials.cleared()),
        reduction,
        ..Launch::new(grid, &params)
    })
}

/// Returns the address of the statistics of an operand's rows, or 0 if they are not scaled.
fn lines(desc: &GemmDesc, problem: &Problem, operand: OperandKind) -> u64 {
    let emulation = desc.emulation();
    if !emulation.scales() || problem.k == 0 {
        return 0;
    }
    let layout = DecomposedLayout {
        emulation,
        mn: problem.mn(operand),
        k: problem.k / emulation.terms() as usize,
    };
    problem.operand(operand).memory.address + layout.lines_offset()
}

/// The tensor map of a matrix that TMA does not move.
const NOTHING: TensorMap = TensorMap { word: [0; 16] };
