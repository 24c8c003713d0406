//! Launches of warp-specialized kernels: tensor maps, and as many clusters as the device holds at
//! once.

use crate::{
    codegen::GemmParams,
    layout::Order,
    nest::{GemmDesc, GemmMode, plan::Geometry},
    operand::{Elements, Problem, View},
    refusal::{Operand, Refusal},
    shape::OperandKind,
    threadblock::{
        Grid, L2PromotionKind, Launch, Mainloop, Partials, TensorMapDesc, TmaTensor,
        WarpSpecialized, launch::cleared, positions::POSITIONS, smem::Along,
    },
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
        (desc.tile_of_d(geometry.tile), desc.mainloop.cluster(), geometry.group_step),
        blocks.tiles(),
        clusters,
    )?;
    let partials = partials.at(problem);
    let batch = |view: &View<Elements>| match desc.work.mode {
        GemmMode::Array => Some((POSITIONS, view.batch_stride as u64)),
        mode => mode.several().then(|| problem.matrices(view)),
    };
    let l2_promotion = match desc.mainloop {
        Mainloop::TmaRing(knobs) => knobs.l2_promotion,
        _ => L2PromotionKind::DEFAULT,
    };
    // Tensor map of an operand; none if K is 0, and if the producer's threads gather the operand.
    let operand = |operand: OperandKind| {
        let (view, element) = (problem.operand(operand), desc.operand(operand).stored);
        let order = Order::for_operand(operand, components.tile(operand).along().is(Along::K));
        let extents = (problem.mn(operand) as u64, problem.k as u64);
        let lines = (view.leading(order) as u64, batch(view));
        // The matrices of a gate are in ascending order in the tensor.
        let up = problem.up.matrix().filter(|_| operand == OperandKind::B);
        let up = up.map(|up| up.memory.address);
        let address = up.map_or(view.memory.address, |up| up.min(view.memory.address));
        let map = || {
            let map = match up {
                Some(up) => {
                    let apart = element.matrix_elements(up.abs_diff(view.memory.address));
                    components.gate_map(element, extents, lines, apart)
                }
                None => components.operand_map(operand, element, extents, lines),
            };
            map.map(|map| TensorMapDesc { l2_promotion, ..map })
        };
        (problem.k > 0 && !desc.operand(operand).indexed)
            .then(|| map().map(|desc| TmaTensor { desc, address }))
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
    let params = GemmParams::new(desc, problem, &work, partials.as_ref());
    let Geometry { threads, shared_bytes, cluster, .. } = *geometry;
    let grid = Grid { clusters: work.clusters, cluster, threads, shared_bytes };
    let tiles = u64::from(work.rectangles()) * u64::from(desc.mainloop.cluster().count());
    let reduction = geometry.reduction_of(desc, problem, tiles)?;
    Ok(Launch {
        tensors,
        clear: cleared(desc, problem, partials.and_then(|partials| partials.cleared())),
        reduction,
        ..Launch::new(grid, &params)
    })
}
