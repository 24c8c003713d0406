//! The fast mode: each tile's sums over K in the instruction's own steps, then the epilogue along rows of D.

use super::{
    super::{run::Typed, store::Store},
    Stored,
    split::Scales,
};
use crate::{
    desc::OperandKind,
    device::arguments::Source,
    numeric::{Combination, Instruction, TensorSum},
    warp::mma_warpgroup::ROWS,
};
use rayon::prelude::*;

/// Memory for the sums of the tiles that are computed side by side; one tile is always computed.
const BUDGET_BYTES: usize = 64 << 20;

/// K that is taken apart at once, in tiles.
const TILES_ABREAST: u32 = 8;

/// Computes D.
pub(super) fn product<T: Combination>(
    typed: &Typed<'_, T>,
    scales: Scales<'_>,
    source: Source<&[Stored<T>]>,
    d: &mut [Stored<T>],
) {
    let (problem, block) = (&typed.problem, typed.desc.threadblock);
    let instruction = typed.desc.matrix_instruction();
    let (rows, columns) = (problem.m.div_ceil(block.m as usize), problem.n.div_ceil(block.n as usize));
    let area = block.m as usize * block.n as usize;
    let most = (BUDGET_BYTES / (area * size_of::<T::Accumulator>())).max(1);
    let store = Store::new(typed, source);
    let mut sums = Vec::new();
    for first in (0..rows * columns).step_by(most) {
        let tiles: Vec<_> =
            (first..rows * columns).take(most).map(|tile| ((tile / columns) as u32, (tile % columns) as u32)).collect();
        sums.clear();
        sums.resize(tiles.len() * area, T::Accumulator::default());
        // The rows of an instruction are computed at once.
        let strip = ROWS as usize * block.n as usize;
        sums.par_chunks_mut(strip).enumerate().for_each(|(number, sums)| {
            let (tile, part) = (number * strip / area, number * strip % area / block.n as usize);
            let origin = (tiles[tile].0 as usize * block.m as usize + part, tiles[tile].1 as usize * block.n as usize);
            strip_of_a_tile(typed, (instruction.as_ref(), scales), origin, sums);
        });
        store.blocks(&tiles, &sums, area, d);
    }
}

/// The sums of some rows of a tile that begins at `origin` of D, row by row.
fn strip_of_a_tile<T: Combination>(
    typed: &Typed<'_, T>,
    (instruction, scales): (Option<&Instruction>, Scales<'_>),
    (row, column): (usize, usize),
    sums: &mut [T::Accumulator],
) {
    let (problem, block) = (&typed.problem, typed.desc.threadblock);
    let (pitch, tile_k) = (block.n as usize, block.k as usize);
    let rows = (sums.len() / pitch).min(problem.m.saturating_sub(row));
    let columns = pitch.min(problem.n.saturating_sub(column));
    let blocks = typed.desc.blocks(problem.k);
    let mut inside = vec![T::Accumulator::default(); rows * columns];
    for first in (0..typed.tiles).step_by(TILES_ABREAST as usize) {
        // Whole tiles: zeros behind the end of K are steps, too.
        let depth = tile_k * (typed.tiles - first).min(TILES_ABREAST) as usize;
        let panel = |operand: OperandKind, origin: usize, count: usize| {
            let numbers: Vec<_> = (0..count * depth)
                .map(|at| {
                    let tile = first + (at % depth / tile_k) as u32;
                    (origin + at / depth, blocks.block(operand, tile) as usize * tile_k + at % tile_k)
                })
                .map(|(mn, k)| typed.element(operand, (k < problem.k).then_some((mn as u64, k as u64))))
                .collect();
            T::Accumulator::panel(instruction, operand, depth, &numbers)
        };
        let (a, b) = (panel(OperandKind::A, row, rows), panel(OperandKind::B, column, columns));
        T::Accumulator::accumulate(instruction, &a, &b, &mut inside);
    }
    for (at, sum) in inside.iter_mut().enumerate() {
        if let Some(shift) = scales.shift(row + at / columns, column + at % columns) {
            *sum = sum.scaled_back(shift, scales.unscaled);
        }
    }
    for (to, from) in sums.chunks_exact_mut(pitch).zip(inside.chunks_exact(columns.max(1))) {
        to[..columns].copy_from_slice(from);
    }
}
