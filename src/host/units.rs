//! Which units of work blocks take.

use crate::{
    schedule::Fault,
    threadblock::{Unit, Units, Work, WorkKind},
};
use std::collections::HashMap;

/// Parts of K of each tile of a product: the first k-tile of each, and how many it has.
#[derive(Default)]
pub(super) struct TileParts(HashMap<(u32, u32), Vec<(u32, u32)>>);

impl TileParts {
    /// Those of each product of some work.
    ///
    /// # Errors
    /// Those of [`units_once`], and for a tile that lacks k-tiles.
    pub fn of_products(work: &Work, units: &Units) -> Result<Vec<Self>, Fault> {
        let mut products: Vec<Self> = (0..work.batch).map(|_| Self::default()).collect();
        for taken in units_once(work, units) {
            for Unit { product, row, column, k_begin, k_count, .. } in taken?.1 {
                products[product as usize]
                    .0
                    .entry((row, column))
                    .or_default()
                    .push((k_begin, k_count));
            }
        }
        for of in &mut products {
            for (row, column) in
                (0..work.rows).flat_map(|row| (0..work.columns).map(move |column| (row, column)))
            {
                let parts = of.0.entry((row, column)).or_default();
                parts.sort_unstable();
                let follow = |end: u32, &(begin, count): &(u32, u32)| {
                    (begin == end).then_some(begin + count)
                };
                if parts.is_empty() || parts.iter().try_fold(0, follow) != Some(work.tiles_k) {
                    return Err(Fault::LeftOut { map: "units", row, column });
                }
            }
        }
        Ok(products)
    }

    /// Those of a tile, in order.
    pub fn parts(&self, tile: (u32, u32)) -> Vec<(u32, u32)> {
        self.0.get(&tile).cloned().unwrap_or_default()
    }

    /// The most of a tile.
    pub fn most(&self) -> usize {
        self.0.values().map(Vec::len).max().unwrap_or(0)
    }
}

/// What a block takes as its unit number `i`: a tile that there is.
pub(super) fn unit_of(work: &Work, units: &Units, block: u32, i: u32) -> Result<Unit, Fault> {
    let left_out = Fault::LeftOut { map: "units", row: block, column: i };
    let unit = units(work, block, 0, i).ok_or(left_out)?;
    let Unit { product, row, column, part, .. } = unit;
    let there =
        product < work.batch && row < work.rows && column < work.columns && part < most_parts(work);
    if !there { Err(Fault::TileTwice { row, column }) } else { Ok(unit) }
}

/// Parts of a tile, at most: of a stream, each cluster may have one.
const fn most_parts(work: &Work) -> u32 {
    if matches!(work.kind, WorkKind::StreamK) { work.clusters } else { work.split_k }
}

/// The units of each block, which is a cluster of one, block after block: each part of each tile of
/// each product is one of them.
pub(super) fn units_once(
    work: &Work,
    units: &Units,
) -> impl Iterator<Item = Result<(u32, Vec<Unit>), Fault>> {
    let (rows, columns, parts) =
        (work.rows as usize, work.columns as usize, most_parts(work) as usize);
    // A grid has fewer blocks than 2^31.
    let mut computed = vec![false; work.batch as usize * rows * columns * parts];
    (0..work.clusters).map(move |block| {
        let taken = (0..work.count(block)).map(|i| {
            let unit = unit_of(work, units, block, i)?;
            let Unit { product, row, column, part, .. } = unit;
            let tile = (product as usize * rows + row as usize) * columns + column as usize;
            let seen = core::mem::replace(&mut computed[tile * parts + part as usize], true);
            if seen { Err(Fault::TileTwice { row, column }) } else { Ok(unit) }
        });
        Ok((block, taken.collect::<Result<_, _>>()?))
    })
}
