//! Blocks of the fast mode: panels gathered through the plan, multiplied with wide vectors.

use super::{
    microkernel::Product,
    plan::{Name, Panel, Plan},
    run::{Tile, Typed},
};
use crate::{
    desc::OperandKind,
    numeric::{Accumulator, Combination, Widen},
    sys::simd::{Vectorized, dispatch},
};

/// K that is gathered at once: a panel of it stays in the second-level cache.
const CHUNK: u32 = 256;

/// All blocks of one product.
pub(super) struct FastBlocks<'a, T: Combination> {
    typed: &'a Typed<'a, T>,
    plan: &'a Plan,
    /// For each panel, the distance of each of its elements from the first of the tile, in elements of the matrix.
    distances: [Vec<Vec<usize>>; 2],
}

impl<'a, T: Combination> FastBlocks<'a, T> {
    pub fn new(typed: &'a Typed<'a, T>, plan: &'a Plan) -> Self {
        let distances = OperandKind::BOTH.map(|operand| {
            let (along_mn, along_k) = typed.strides(operand);
            // Distances are used where the whole tile exists. Elsewhere they may wrap: a single row has any leading dimension.
            let place = |e: &Name| (e.mn as usize).wrapping_mul(along_mn).wrapping_add((e.k as usize).wrapping_mul(along_k));
            let distance = |panel: &Panel| panel.elements.iter().map(place).collect();
            plan.panels[operand.index()].iter().map(distance).collect()
        });
        Self { typed, plan, distances }
    }

    /// The sums of the block at tile (`row`, `column`), row by row.
    pub fn sums(&self, (row, column): (u32, u32)) -> Tile<T> {
        let d = &self.typed.program.desc;
        let (warp_m, warp_n) = (d.warp.m as usize, d.warp.n as usize);
        let origins = [u64::from(row) * u64::from(d.threadblock.m), u64::from(column) * u64::from(d.threadblock.n)];
        let mut sums = vec![vec![T::Accumulator::default(); warp_m * warp_n]; self.plan.warps.len()];
        let mut panels = [0, 1].map(|side: usize| vec![Vec::new(); self.plan.panels[side].len()]);
        let step = (CHUNK / d.threadblock.k).max(1);
        for first in (0..self.typed.tiles).step_by(step as usize) {
            let tiles = first..self.typed.tiles.min(first.saturating_add(step));
            for operand in OperandKind::BOTH {
                let side = operand.index();
                for (panel, into) in panels[side].iter_mut().enumerate() {
                    self.gather(operand, panel, origins[side], tiles.clone(), into);
                }
            }
            for (warp, sums) in self.plan.warps.iter().zip(&mut sums) {
                let [a, b] = [0, 1].map(|side: usize| panels[side][warp.panels[side]].as_slice());
                dispatch(Product { a, b, rows: warp_m, columns: warp_n, sums });
            }
        }
        self.assemble(&sums)
    }

    /// Gathers a panel of `tiles`, k by k; elements beyond the operand are zero.
    fn gather(
        &self,
        operand: OperandKind,
        panel: usize,
        origin: u64,
        tiles: core::ops::Range<u32>,
        into: &mut Vec<T::Accumulator>,
    ) {
        let (d, elements) = (&self.typed.program.desc, &self.plan.panels[operand.index()][panel].elements);
        let walk = self.typed.iterator(operand, origin);
        let (along_mn, along_k) = self.typed.strides(operand);
        let tile_mn = if operand == OperandKind::A { d.threadblock.m } else { d.threadblock.n };
        into.clear();
        for tile in tiles {
            let inside = origin + u64::from(tile_mn) <= walk.extent_mn
                && (u64::from(tile) + 1) * u64::from(d.threadblock.k) <= walk.extent_k;
            if inside {
                let start = origin as usize * along_mn + tile as usize * d.threadblock.k as usize * along_k;
                let distances = &self.distances[operand.index()][panel];
                match operand {
                    OperandKind::A => dispatch(Gather { from: self.typed.a.get(start..).unwrap_or_default(), distances, into }),
                    OperandKind::B => dispatch(Gather { from: self.typed.b.get(start..).unwrap_or_default(), distances, into }),
                }
            } else {
                into.extend(elements.iter().map(|e| self.typed.element(operand, walk.element(tile, e.mn, e.k))));
            }
        }
    }

    /// Adds the slices of K, and puts every sum where its thread stores it.
    fn assemble(&self, sums: &[Vec<T::Accumulator>]) -> Tile<T> {
        let d = &self.typed.program.desc;
        let columns = d.threadblock.n as usize;
        let mut tile = vec![T::Accumulator::default(); d.threadblock.m as usize * columns];
        for (index, warp) in self.plan.warps.iter().enumerate() {
            let first_slice = warp.slice == 0;
            for (i, &row) in warp.rows.iter().enumerate() {
                let line = &sums[index][i * d.warp.n as usize..][..d.warp.n as usize];
                let stored = &mut tile[row as usize * columns..][..columns];
                for (sum, &column) in line.iter().zip(&warp.columns) {
                    let to = &mut stored[column as usize];
                    *to = if first_slice { *sum } else { to.plus(*sum) };
                }
            }
        }
        tile
    }
}

/// Elements at given distances, widened.
struct Gather<'g, S, A> {
    from: &'g [S],
    distances: &'g [usize],
    into: &'g mut Vec<A>,
}

impl<S: Copy + Widen<A>, A: Accumulator> Vectorized for Gather<'_, S, A> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let from = self.from;
        self.into.extend(self.distances.iter().map(|&distance| from.get(distance).map_or_else(A::default, |x| (*x).widen())));
    }
}
