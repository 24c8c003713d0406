//! The fast mode on the CUDA cores: every sum is one chain of fused multiply-adds along K, whoever makes it.

use super::{
    super::{fast::FastBlocks, plan::Plan, run::Typed, store::Store},
    Stored,
};
use crate::{device::arguments::Source, error::Error, numeric::Combination};

/// Computes D.
pub(super) fn product<T: Combination>(
    typed: &Typed<'_, T>,
    source: Source<&[Stored<T>]>,
    d: &mut [Stored<T>],
) -> Result<(), Error> {
    let (problem, block) = (&typed.problem, typed.desc.threadblock);
    let (rows, columns) = (problem.m.div_ceil(block.m as usize), problem.n.div_ceil(block.n as usize));
    let plan = Plan::of_one_product(block);
    let (fast, store) = (FastBlocks::new(typed, &plan), Store::new(typed, source));
    let mut blocks = 0..(rows * columns) as u32;
    let mut sums = Vec::new();
    while !blocks.is_empty() {
        let batch = fast.batch(&mut blocks, |block| Ok((block / columns as u32, block % columns as u32)))?;
        let piece = fast.sums(&batch, &mut sums);
        store.blocks(&batch.tiles, &sums, piece, d);
    }
    Ok(())
}
