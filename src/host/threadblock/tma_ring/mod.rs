//! Warp-specialized kernels on the host.
//!
//! The host adds the accumulators of the kernel in the same order without a ring, in parallel over
//! tiles, so the bits are equal. On CUDA cores and for integers, accumulators are chains of
//! multiply-adds, and the panels of the other main loops compute them.
//!
//! Emulated `f32` operands are decomposed first, and the host multiplies the terms.

use crate::{
    Error,
    host::{
        batch::each_gemm,
        operands::{Product, Tiling},
        threadblock::{
            fast::{Scratch, compute},
            mma::composition::{Composition, clipped},
            units::TileSlices,
        },
        warp::{
            chains::Chains,
            emulation::{DecomposedOperands, EmulationProgram, Scales},
            steps::{WHOLE, stepped},
        },
    },
    nest::GemmDesc,
    numeric::{Accumulator, ElementKind, F16, Number},
    operand::HostCall,
    refusal::Refusal,
    shape::{Mnk, at_least_one},
    threadblock::{Units, Work},
};
use std::sync::Arc;

/// Runs a kernel's description, with the description of the same GEMM and a
/// row-major D. The caller has checked the description. If an operand of a batch cannot be
/// decomposed, the call is refused before any write.
///
/// # Errors
/// [`Error::Refused`] if the class does not support the element types, or if an operand cannot be
/// decomposed.
pub(crate) fn execute_fast(
    [kernel, by_rows]: [&GemmDesc; 2],
    call: HostCall<'_>,
) -> Result<(), Error> {
    run_decomposed(&EmulationProgram::RIGHT, by_rows, call, |scales, mut call| {
        let desc = by_rows.multiplied();
        // Shapes are the kernel's, whose D may have the other order.
        let tiling = tiling(&desc, call.k);
        let Mnk { m, n, k } = tiling.block;
        let block = if stores_rows(kernel) { Mnk::new(m, n, k) } else { Mnk::new(n, m, k) };
        let streams = streams(kernel, &call)?;
        // Streams have slices of a tile.
        let block =
            if streams.is_some() { block } else { clipped(block, (call.m, call.n, call.k)) };
        let (tiling, composition) = (Tiling { block, ..tiling }, Composition::single_gemm(block));
        each_gemm(&mut call, |(), number, call| {
            let product = &mut Product::new(&desc, tiling, call)?;
            let streams = streams.as_ref().map(|streams| &streams[number]);
            fast_product(&desc, product, (scales, number), (&composition, streams))
        })
    })
}

/// Returns whether a kernel's D is row-major.
const fn stores_rows(kernel: &GemmDesc) -> bool {
    kernel.frame.d_order().is_row()
}

/// Returns the stream-K slices of each tile of each GEMM, for a call with a row-major D. `None`
/// without stream-K. The kernel divides the tiles of its own D, so the slices are transposed if
/// that D is column-major.
fn streams(kernel: &GemmDesc, call: &HostCall<'_>) -> Result<Option<Vec<TileSlices>>, Error> {
    if !kernel.streams_k() {
        return Ok(None);
    }
    let by_rows = stores_rows(kernel);
    let extents = if by_rows { (call.m, call.n) } else { (call.n, call.m) };
    let tiles_k = kernel.blocks(call.k).tiles();
    let work = work(kernel, (extents, call.batch, tiles_k), clusters(kernel))?;
    let units: Units = Arc::new(Work::unit);
    let slices = TileSlices::for_gemms(&work, &units)?.into_iter();
    Ok(Some(slices.map(|slices| if by_rows { slices } else { slices.transposed() }).collect()))
}

/// Small, so that each cluster computes several tiles even of a small D.
const CLUSTERS: u32 = 3;

/// Returns the number of persistent clusters on the host; under stream-K as many as the workspace
/// has slots for.
pub const fn clusters(desc: &GemmDesc) -> u32 {
    if !desc.streams_k() {
        return CLUSTERS;
    }
    desc.most_streams() / at_least_one(desc.mainloop.cluster().count())
}

/// Returns the work of a kernel on `clusters` clusters. `extents` holds M and N, the number of
/// GEMMs, and the k-tiles per tile.
///
/// # Errors
/// The errors of [`Work::new`].
pub fn work(
    desc: &GemmDesc,
    extents: ((usize, usize), usize, u32),
    clusters: u32,
) -> Result<Work, Refusal> {
    let kinds = (desc.geometry().work, desc.work.swizzle, desc.work.split_k);
    Work::new(kinds, (desc.threadblock(), desc.mainloop.cluster()), extents, clusters)
}

/// Runs `compute` with the call that the kernel computes, which has decomposed operands if f32 is
/// emulated.
///
/// # Errors
/// [`Error::Refused`] if an operand cannot be decomposed, and the errors of `compute`.
pub fn run_decomposed(
    program: &EmulationProgram,
    desc: &GemmDesc,
    call: HostCall<'_>,
    compute: impl FnOnce(Scales<'_>, HostCall<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    if !desc.emulation().decomposes() {
        return compute(
            Scales { shifts: &Default::default(), lines: [[0; 2]; 2], unscaled: program.unscaled },
            call,
        );
    }
    let operands = DecomposedOperands::new(program, desc, &call)?;
    let scales =
        Scales { shifts: &operands.shifts, lines: operands.lines, unscaled: program.unscaled };
    compute(scales, operands.call(call))
}

/// Returns the tiling of a kernel for a K of `k`.
pub const fn tiling(desc: &GemmDesc, k: usize) -> Tiling {
    Tiling {
        block: desc.threadblock(),
        warp_slices: 1,
        blocks: desc.blocks(k),
        split_k: desc.work.split_k,
    }
}

/// Computes D of one GEMM.
fn fast_product(
    desc: &GemmDesc,
    product: &mut Product<'_>,
    scales: (Scales<'_>, usize),
    (composition, streams): (&Composition, Option<&TileSlices>),
) -> Result<(), Error> {
    // Other accumulators are chains of multiply-adds.
    if let Some(instruction) = desc.matrix_instruction() {
        return stepped(product, scales, (instruction, WHOLE), streams);
    }
    match desc.output.accumulator {
        ElementKind::F64 => chains::<f64>(product, composition, streams),
        ElementKind::I32 => chains::<i32>(product, composition, streams),
        ElementKind::F16 => chains::<F16>(product, composition, streams),
        _ => chains::<f32>(product, composition, streams),
    }
}

/// Computes D with accumulators that are chains of multiply-adds in ascending k.
fn chains<T: Accumulator + Number>(
    product: &mut Product<'_>,
    composition: &Composition,
    streams: Option<&TileSlices>,
) -> Result<(), Error> {
    let (problem, block) = (product.operands.problem, product.operands.tiling.block);
    let (rows, columns) =
        (problem.m.div_ceil(block.m as usize), problem.n.div_ceil(block.n as usize));
    let chains = Chains::<T>::new(product.operands, (composition, 1), streams)?;
    compute(
        &chains,
        (rows, columns),
        |block| Ok((block / columns as u32, block % columns as u32)),
        product,
        &mut Scratch::default(),
    )
}
