//! Parameters of a GEMM kernel.

use crate::{
    codegen::{GemmParams, SumParams},
    epilogue::sums::SumParts,
    nest::GemmDesc,
    numeric::ElementKind,
    operand::{DecomposedLayout, Problem},
    shape::{EpilogueOperand, OperandKind},
    threadblock::{Partials, Work},
};

impl GemmParams {
    /// Returns the parameters of a problem, whose operands are already as the kernel reads them.
    pub(crate) fn new(
        desc: &GemmDesc,
        problem: &Problem,
        work: &Work,
        partials: Option<&Partials>,
    ) -> Self {
        let (source, order) = (problem.read_source(), desc.frame.d_order());
        let [split_k, slice_tiles, longer_slices, tickets] = work.slices();
        let splits = [source.map_or(problem.d.splits, |c| c.splits), problem.d.splits];
        let read = [Some(problem.a), Some(problem.b), source];
        Self {
            a: problem.a.memory.address,
            b: problem.b.memory.address,
            d: problem.d.memory.address,
            lda: problem.a.leading(desc.operands[0].layout) as i64,
            ldb: problem.b.leading(desc.operands[1].layout) as i64,
            ldd: problem.d.leading(order) as i64,
            stride_a: problem.batch_stride(&problem.a) as i64,
            stride_b: problem.batch_stride(&problem.b) as i64,
            stride_d: problem.batch_stride(&problem.d) as i64,
            operands: problem.operand_params(desc),
            scalars: problem.scalars,
            m: problem.m as i32,
            n: problem.n as i32,
            k: problem.k as i32,
            tiles_k: work.tiles_k,
            tiles_m: work.rows,
            tiles_n: work.columns,
            reads_source: u32::from(source.is_some()),
            unscaled: u32::from(source.is_none() && problem.scalars[..2] == [1.0, 0.0]),
            batch: problem.batch as u32,
            own: read.iter().rev().fold(0, |bits, view| {
                bits << 1 | u32::from(view.is_some_and(|view| problem.matrices(&view).0 > 1))
            }),
            split_k,
            slice_tiles,
            longer_slices,
            tile_tickets: desc.decomposition().tickets(tickets),
            term_blocks: desc.blocks(problem.k).blocks,
            unused: 0,
            lines: OperandKind::BOTH.map(|operand| lines(desc, problem, operand)),
            stride_lines: [&problem.a, &problem.b]
                .map(|terms| ElementKind::F16.matrix_bytes(problem.batch_stride(terms))),
            slots: partials.map_or(0, |partials| partials.slots().start),
            tickets: partials.map_or(0, |partials| partials.tickets().start),
            records: problem.records(),
            indices: problem.index_params(),
            strides_d: problem.d.strides.map(|stride| stride as i64),
            outer_strides: splits.map(|splits| splits.map(|split| split.params().1)),
            split_extents: splits.map(|splits| splits.map(|split| split.params().0)),
            gate_stride: problem.gate_stride(desc.operands[1].stored),
            sums: sum_params(desc, problem, partials),
        }
    }
}

/// Returns the parameters of the sums of an epilogue.
fn sum_params(
    desc: &GemmDesc,
    problem: &Problem,
    partials: Option<&Partials>,
) -> [SumParams; EpilogueOperand::SUMS.len()] {
    let mut sums = [SumParams::NONE; EpilogueOperand::SUMS.len()];
    let mut address = partials.map_or(0, |partials| partials.sums().start);
    let all = SumParts::for_outputs(desc, (problem.m, problem.n), problem.outputs());
    for (sum, parts) in sums.iter_mut().zip(all) {
        let [lines, count, products] =
            [parts.lines, parts.parts, parts.products].map(|count| count as u32);
        let shared = problem.outputs() < problem.batch;
        let batch_stride = if shared { 0 } else { parts.lines * parts.parts };
        *sum = SumParams { address, batch_stride, lines, parts: count, products, reserved: 0 };
        address += parts.bytes(desc.output.compute.element());
    }
    sums
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
