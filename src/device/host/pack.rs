//! Panels of an operand, gathered through the plan and widened: what microkernels read.

use super::{
    microkernel::Sections,
    plan::{Name, Panel, Plan},
    run::Typed,
};
use crate::{
    desc::OperandKind,
    numeric::{Accumulator, Combination, Widen},
    sys::simd::{Vectorized, dispatch},
    threadblock::tile_iterator::TileIterator,
};
use core::ops::Range;

/// How the panels of one operand are packed.
pub(super) struct Packing<'a, T: Combination> {
    typed: &'a Typed<'a, T>,
    operand: OperandKind,
    panels: Vec<(&'a Panel, Option<Name>)>,
    /// Slots of the widest section.
    pub widest: usize,
}

impl<'a, T: Combination> Packing<'a, T> {
    pub fn new(typed: &'a Typed<'a, T>, plan: &'a Plan, operand: OperandKind, widest: usize) -> Self {
        let panels = plan.shares.iter().map(|share| &share.panels[operand.index()]);
        Self { typed, operand, panels: panels.map(|panel| (panel, panel.rectangle())).collect(), widest }
    }

    /// Elements of all panels of one tile along K.
    pub fn elements_per_tile(&self) -> usize {
        self.panels.iter().map(|(panel, _)| panel.elements.len()).sum()
    }

    /// Packs `tiles` of all panels of the strip of tiles number `strip`, panel by panel.
    pub fn pack(&self, strip: u32, tiles: Range<u32>, into: &mut [T::Accumulator]) {
        let d = self.typed.desc;
        let origin = u64::from(strip) * u64::from(d.operand(self.operand).smem.mn);
        let walk = self.typed.iterator(self.operand, origin);
        let mut rest = into;
        for &(panel, rectangle) in &self.panels {
            let (into, others) = rest.split_at_mut(panel.elements.len() * tiles.len());
            rest = others;
            match (rectangle, self.operand) {
                (None, _) => self.gather(panel, &walk, tiles.clone(), into),
                (Some(first), OperandKind::A) => dispatch(self.rectangles(self.typed.a, panel, first, &walk, &tiles, into)),
                (Some(first), OperandKind::B) => dispatch(self.rectangles(self.typed.b, panel, first, &walk, &tiles, into)),
            }
        }
    }

    /// Element by element, wherever they are.
    fn gather(&self, panel: &Panel, walk: &TileIterator, tiles: Range<u32>, into: &mut [T::Accumulator]) {
        let (slots, depth) = (panel.slots(), panel.depth());
        for (first, width) in Sections::of(slots, self.widest) {
            let section = into[first * depth * tiles.len()..].chunks_exact_mut(width);
            let groups = tiles.clone().flat_map(|tile| (0..depth).map(move |group| (tile, group)));
            for (to, (tile, group)) in section.zip(groups) {
                for (to, e) in to.iter_mut().zip(&panel.elements[group * slots + first..]) {
                    *to = self.typed.element(self.operand, walk.element(tile, e.mn, e.k));
                }
            }
        }
    }

    fn rectangles<'r, S>(
        &self,
        from: &'r [S],
        panel: &Panel,
        first: Name,
        walk: &TileIterator,
        tiles: &Range<u32>,
        into: &'r mut [T::Accumulator],
    ) -> Rectangles<'r, S, T::Accumulator> {
        let (tile_k, depth) = (walk.tile_k as usize, panel.depth());
        let k = tiles.start as usize * tile_k + first.k as usize;
        // Tiles that follow one another without a gap are one.
        let (depth, count) = if depth == tile_k { (depth * tiles.len(), 1) } else { (depth, tiles.len()) };
        Rectangles {
            from,
            strides: self.typed.strides(self.operand),
            origin: (walk.origin as usize + first.mn as usize, k),
            extents: (walk.extent_mn as usize, walk.extent_k as usize),
            slots: panel.slots(),
            widest: self.widest,
            depth,
            count,
            step: tile_k,
            into,
        }
    }
}

/// Rectangles of a matrix of MN x K, one after the other along K, widened; beyond the matrix, zeros.
struct Rectangles<'r, S, A> {
    from: &'r [S],
    /// Between neighbours along MN, and along K.
    strides: (usize, usize),
    /// The first element, along MN and along K.
    origin: (usize, usize),
    /// Of the matrix.
    extents: (usize, usize),
    /// Along MN.
    slots: usize,
    /// Slots of the widest section.
    widest: usize,
    /// Along K, of one rectangle.
    depth: usize,
    /// Rectangles.
    count: usize,
    /// From one rectangle to the next, along K.
    step: usize,
    into: &'r mut [A],
}

impl<S: Copy + Widen<A>, A: Accumulator> Vectorized for Rectangles<'_, S, A> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut rest = self.into;
        for (slot, width) in Sections::of(self.slots, self.widest) {
            for rectangle in 0..self.count {
                let (into, others) = rest.split_at_mut(width * self.depth);
                rest = others;
                let (mn, k) = (self.origin.0 + slot, self.origin.1 + rectangle * self.step);
                let there = (self.extents.0.saturating_sub(mn).min(width), self.extents.1.saturating_sub(k).min(self.depth));
                if there != (width, self.depth) {
                    into.fill(A::default());
                }
                if there.0 == 0 || there.1 == 0 {
                    continue;
                }
                let from = &self.from[mn * self.strides.0 + k * self.strides.1..];
                if self.strides.0 == 1 {
                    for (k, to) in into.chunks_exact_mut(width).take(there.1).enumerate() {
                        let from = &from[k * self.strides.1..][..there.0];
                        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.widen());
                    }
                } else {
                    for mn in 0..there.0 {
                        let from = &from[mn * self.strides.0..][..there.1];
                        into[mn..].iter_mut().step_by(width).zip(from).for_each(|(to, from)| *to = from.widen());
                    }
                }
            }
        }
    }
}
