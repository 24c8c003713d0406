//! Which units of work blocks take.

use crate::{
    schedule::Fault,
    threadblock::{Unit, Units, Work},
};

/// What a block takes as its unit number `i`: a tile that there is.
pub(super) fn unit_of(work: &Work, units: &Units, block: u32, i: u32) -> Result<Unit, Fault> {
    let left_out = Fault::LeftOut { map: "units", row: block, column: i };
    let unit = units(work, block, 0, i).ok_or(left_out)?;
    let Unit { product, row, column, part, .. } = unit;
    let there = product < work.batch && row < work.rows && column < work.columns && part < work.split_k;
    if !there { Err(Fault::TileTwice { row, column }) } else { Ok(unit) }
}

/// The units of all blocks, which are clusters of one, block after block: each part of each tile of each product is one of them.
pub(super) fn units_once(work: &Work, units: &Units) -> impl Iterator<Item = Result<(u32, Unit), Fault>> {
    let (rows, columns, parts) = (work.rows as usize, work.columns as usize, work.split_k as usize);
    // A grid has fewer blocks than 2^31.
    let mut computed = vec![false; work.batch as usize * rows * columns * parts];
    let numbers = (0..work.clusters).flat_map(|block| (0..work.count(block)).map(move |i| (block, i)));
    numbers.map(move |(block, i)| {
        let unit = unit_of(work, units, block, i)?;
        let Unit { product, row, column, part, .. } = unit;
        let seen = &mut computed[((product as usize * rows + row as usize) * columns + column as usize) * parts + part as usize];
        if core::mem::replace(seen, true) { Err(Fault::TileTwice { row, column }) } else { Ok((block, unit)) }
    })
}
