//! The assignment of units of work to CTAs.

use crate::{
    schedule::Fault,
    threadblock::{Unit, Units, Work, WorkKind},
};
use std::collections::HashMap;

/// The stream-K slices of each tile of a GEMM: the first k-tile and the number of k-tiles of each.
#[derive(Default)]
pub struct TileSlices(HashMap<(u32, u32), Vec<(u32, u32)>>);

impl TileSlices {
    /// Returns the slices of each GEMM of `work`.
    ///
    /// # Errors
    /// The errors of [`units_once`], and [`Fault::LeftOut`] for a tile whose slices do not cover K.
    pub fn for_gemms(work: &Work, units: &Units) -> Result<Vec<Self>, Fault> {
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
            let (rows, columns) = tiles(work);
            for (row, column) in
                (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)))
            {
                let slices = of.0.entry((row, column)).or_default();
                slices.sort_unstable();
                let follow = |end: u32, &(begin, count): &(u32, u32)| {
                    (begin == end).then_some(begin + count)
                };
                if slices.is_empty() || slices.iter().try_fold(0, follow) != Some(work.tiles_k) {
                    return Err(Fault::LeftOut { map: "units", row, column });
                }
            }
        }
        Ok(products)
    }

    /// Returns the slices of the tiles of the transposed D.
    pub fn transposed(self) -> Self {
        Self(self.0.into_iter().map(|((row, column), slices)| ((column, row), slices)).collect())
    }

    /// Returns the slices of a tile in ascending k.
    pub fn k_slices(&self, tile: (u32, u32)) -> Vec<(u32, u32)> {
        self.0.get(&tile).cloned().unwrap_or_default()
    }

    /// Returns the largest number of slices of a tile.
    pub fn most(&self) -> usize {
        self.0.values().map(Vec::len).max().unwrap_or(0)
    }
}

/// Returns unit `i` of a CTA, and checks that its tile exists. CTA `rank` of a cluster has the
/// number `cluster * CTAs per cluster + rank`.
pub fn unit_of(work: &Work, units: &Units, block: u32, i: u32) -> Result<Unit, Fault> {
    let left_out = Fault::LeftOut { map: "units", row: block, column: i };
    let (cluster, rank) = (block / work.blocks(), block % work.blocks());
    let unit = units(work, cluster, rank, i).ok_or(left_out)?;
    let (Unit { product, row, column, slice, .. }, (rows, columns)) = (unit, tiles(work));
    let there = product < work.batch && row < rows && column < columns && slice < most_slices(work);
    if !there { Err(Fault::TileTwice { row, column }) } else { Ok(unit) }
}

/// Returns the rows and columns of tiles of all clusters. Some tiles may be beyond D.
const fn tiles(work: &Work) -> (u32, u32) {
    (work.rows * work.cluster.m, work.columns * work.cluster.n)
}

/// Returns the largest number of slices of a tile. Under stream-K, each cluster may have one slice.
const fn most_slices(work: &Work) -> u32 {
    if matches!(work.kind, WorkKind::StreamK) { work.clusters } else { work.split_k }
}

/// Returns the units of each CTA in order. Checks that each slice of each tile of each GEMM occurs
/// at most once.
pub fn units_once(
    work: &Work,
    units: &Units,
) -> impl Iterator<Item = Result<(u32, Vec<Unit>), Fault>> {
    let (rows, columns) = tiles(work);
    let (rows, columns, slices) = (rows as usize, columns as usize, most_slices(work) as usize);
    // The product does not overflow, because a grid has fewer than 2^31 CTAs.
    let mut computed = vec![false; work.batch as usize * rows * columns * slices];
    (0..work.clusters * work.blocks()).map(move |block| {
        let taken = (0..work.count(block / work.blocks())).map(|i| {
            let unit = unit_of(work, units, block, i)?;
            let Unit { product, row, column, slice, .. } = unit;
            let tile = (product as usize * rows + row as usize) * columns + column as usize;
            let seen = core::mem::replace(&mut computed[tile * slices + slice as usize], true);
            if seen { Err(Fault::TileTwice { row, column }) } else { Ok(unit) }
        });
        Ok((block, taken.collect::<Result<_, _>>()?))
    })
}
