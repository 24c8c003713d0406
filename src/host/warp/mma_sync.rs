//! The fragments of `mma.sync` on the host: the lanes that hold the elements of a warp's tile, and
//! the elements that `ldmatrix` delivers.

use crate::{
    arch::WARP,
    host::threadblock::mma::fragments::Fragments,
    layout::index_map::at,
    shape::OperandKind,
    threadblock::{MmaBase, mma::program::Program},
    warp::mma_sync::{MATRICES, WarpInstruction},
};

impl Fragments {
    /// Returns the fragments that an instruction of a warp reads.
    pub(in crate::host) fn with_holders(
        mut self,
        program: &Program,
        operand: OperandKind,
        instruction: &WarpInstruction,
    ) -> Self {
        self.holders = Some(holders(&program.base, operand, instruction));
        if let Some(coordinates) = loaded_by_rows(program, operand, instruction) {
            self.coordinates = coordinates;
            self.per_load = Some(instruction.per_word() * MATRICES);
        }
        self
    }
}

/// Returns the lane and the fragment element that hold (mn, k) of a warp's tile, row by row.
fn holders(base: &MmaBase, operand: OperandKind, instruction: &WarpInstruction) -> Vec<(u32, u32)> {
    let step = instruction.shape().k;
    let (extent, per_word) = (instruction.extent(operand), instruction.per_word());
    let (own, elements) = (instruction.words(operand) * per_word, base.fragment_elements(operand));
    let mut held = vec![(0, 0); (base.operand(operand).warp_mn * step) as usize];
    for lane in 0..WARP {
        for element in 0..elements {
            let (mn, k) = instruction.coordinate(
                operand,
                lane,
                (element % own / per_word, element % per_word),
            );
            held[((element / own * extent + mn) * step + k) as usize] = (lane, element);
        }
    }
    held
}

/// Returns the (mn, k) in a k-block of each fragment element of each thread, thread by thread;
/// `None` if a map leaves the element's row out. Returns `None` if threads load without `ldmatrix`.
fn loaded_by_rows(
    program: &Program,
    operand: OperandKind,
    instruction: &WarpInstruction,
) -> Option<Vec<Option<(u32, u32)>>> {
    let Program { maps, base, .. } = program;
    let (rows, loads) = maps.rows[operand.index()].as_ref().zip(base.matrix_loads(operand))?;
    let (step, per_word) = (base.step(), instruction.per_word());
    let coordinate = |(thread, element): (u32, u32)| {
        let (from, within) = loads.source(thread, (element / per_word, element % per_word));
        let offset = rows.at(at(from, element / per_word / MATRICES))?;
        let (mn, k) = (offset / step, offset % step);
        Some(if loads.transposed() { (mn + within, k) } else { (mn, k + within) })
    };
    let (threads, elements) = (0..base.tiles.threads(), base.fragment_elements(operand));
    let each = threads.flat_map(|thread| (0..elements).map(move |i| (thread, i)));
    Some(each.map(coordinate).collect())
}
