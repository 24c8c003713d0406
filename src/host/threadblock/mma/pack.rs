//! Packing: gathers the panels of an operand through the composition and widens their elements.

use crate::{
    Error,
    host::{
        operands::{Matrix, Operands},
        threadblock::mma::{
            composition::{Composition, Panel},
            names::Name,
        },
        warp::microkernel::Sections,
    },
    numeric::{Accumulator, ElementKind, HostTransform, Number, Widening},
    shape::OperandKind,
    sys::simd::{Vectorized, dispatch},
    threadblock::tile_iterator::TileIterator,
};
use core::ops::Range;

/// The packing of one operand's panels.
pub(in crate::host) struct Packing<'a, T> {
    operands: Operands<'a>,
    operand: OperandKind,
    matrix: Matrix<'a>,
    widening: Widening<T>,
    /// The transform of the widened elements. Only `f32` elements have one.
    transform: Option<HostTransform>,
    panels: Vec<(&'a Panel, Option<Name>)>,
    /// Slots of the widest section.
    pub widest: usize,
}

impl<'a, T: Accumulator + Number> Packing<'a, T> {
    /// Prepares the packing of an operand through a composition.
    ///
    /// # Errors
    /// The errors of [`Operands::widening`].
    pub fn new(
        operands: Operands<'a>,
        composition: &'a Composition,
        operand: OperandKind,
        widest: usize,
    ) -> Result<Self, Error> {
        let at = operand.index();
        let panels =
            composition.shares.iter().map(|share| (&share.panels[at], share.rectangles[at]));
        let panels = panels.collect();
        let (matrix, widening) = (operands.matrix(operand), operands.widening(operand)?);
        let transform = operands.desc.operand(operand).multiplied.transform();
        let transform = transform.map(|id| id.on_host());
        Ok(Self { operands, operand, matrix, widening, transform, panels, widest })
    }

    /// Returns the number of elements of all panels per k-tile.
    pub fn elements_per_tile(&self) -> usize {
        self.panels.iter().map(|(panel, _)| panel.elements.len()).sum()
    }

    /// Packs the k-tiles `tiles` of strip number `strip`, panel by panel.
    pub fn pack(&self, strip: u32, tiles: Range<u32>, into: &mut [T]) {
        let block = self.operands.tiling.block;
        let origin = u64::from(strip)
            * u64::from(if self.operand == OperandKind::A { block.m } else { block.n });
        let walk = self.operands.iterator(self.operand, origin);
        let mut rest = &mut *into;
        for &(panel, rectangle) in &self.panels {
            let (into, others) = rest.split_at_mut(panel.elements.len() * tiles.len());
            rest = others;
            match rectangle {
                None => self.gather(panel, &walk, tiles.clone(), into),
                Some(first) => dispatch(self.rectangles(panel, first, &walk, &tiles, into)),
            }
        }
        if let Some(transform) = self.transform
            && T::KIND == ElementKind::F32
            && let Ok(numbers) = bytemuck::try_cast_slice_mut::<T, f32>(into)
        {
            numbers.iter_mut().for_each(|x| *x = transform.apply(*x));
        }
    }

    /// Packs a panel element by element.
    fn gather(&self, panel: &Panel, walk: &TileIterator, tiles: Range<u32>, into: &mut [T]) {
        let (slots, depth) = (panel.slots(), panel.depth());
        for (first, width) in Sections::new(slots, self.widest) {
            let section = into[first * depth * tiles.len()..].chunks_exact_mut(width);
            let groups = tiles.clone().flat_map(|tile| (0..depth).map(move |group| (tile, group)));
            for (to, (tile, group)) in section.zip(groups) {
                for (to, e) in to.iter_mut().zip(&panel.elements[group * slots + first..]) {
                    let element = walk.element(tile, e.mn, e.k);
                    let one = |(mn, k): (u64, u64)| {
                        (self.widening.one)(self.matrix.from(mn as usize, k as usize))
                    };
                    *to = element.map_or_else(T::default, one);
                }
            }
        }
    }

    fn rectangles<'r>(
        &self,
        panel: &Panel,
        first: Name,
        walk: &TileIterator,
        tiles: &Range<u32>,
        into: &'r mut [T],
    ) -> Rectangles<'r, T>
    where
        'a: 'r,
    {
        let (tile_k, depth) = (walk.tile_k as usize, panel.depth());
        let k = tiles.start as usize * tile_k + first.k as usize;
        // Full k-tiles that follow each other merge into one rectangle.
        let (depth, count) =
            if depth == tile_k { (depth * tiles.len(), 1) } else { (depth, tiles.len()) };
        Rectangles {
            from: self.matrix,
            widening: self.widening,
            origin: (walk.origin as usize + first.mn as usize, k),
            slots: panel.slots(),
            widest: self.widest,
            depth,
            count,
            step: tile_k,
            into,
        }
    }
}

/// Rectangles of an MN x K matrix at a constant distance along K, with widened elements. Elements
/// beyond the matrix are zeros.
struct Rectangles<'r, T> {
    from: Matrix<'r>,
    widening: Widening<T>,
    /// Coordinates of the first element, along M or N and along K.
    origin: (usize, usize),
    /// Extent along M or N.
    slots: usize,
    /// Slots of the widest section.
    widest: usize,
    /// Extent of one rectangle along K.
    depth: usize,
    /// Number of rectangles.
    count: usize,
    /// Distance from one rectangle to the next along K.
    step: usize,
    into: &'r mut [T],
}

impl<T: Accumulator + Number> Vectorized for Rectangles<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let mut line = vec![T::default(); self.slots.max(self.depth)];
        for rectangle in 0..self.count {
            let (mn, k) = (self.origin.0, self.origin.1 + rectangle * self.step);
            let (height, width) = self.from.extents;
            let there = (
                height.saturating_sub(mn).min(self.slots),
                width.saturating_sub(k).min(self.depth),
            );
            if there != (self.slots, self.depth) {
                for (slot, section) in Sections::new(self.slots, self.widest) {
                    self.section_of(rectangle, slot, section).fill(T::default());
                }
            }
            if there.0 > 0 && there.1 > 0 {
                if self.from.strides.0 == 1 {
                    self.along_mn(rectangle, there, &mut line)
                } else {
                    self.along_k(rectangle, there, &mut line)
                }
            }
        }
    }
}

impl<T: Accumulator + Number> Rectangles<'_, T> {
    /// Returns the elements of a section that a rectangle fills. The section begins at slot `slot`
    /// and has `section` slots.
    #[inline(always)]
    fn section_of(&mut self, rectangle: usize, slot: usize, section: usize) -> &mut [T] {
        let first = (slot * self.count + rectangle * section) * self.depth;
        &mut self.into[first..first + section * self.depth]
    }

    /// Copies lines along M or N. Each line covers a part of every section.
    #[inline(always)]
    fn along_mn(&mut self, rectangle: usize, there: (usize, usize), line: &mut [T]) {
        for k in 0..there.1 {
            let from = self.from.from(self.origin.0, self.origin.1 + rectangle * self.step + k);
            (self.widening.row)(from, &mut line[..there.0]);
            for (slot, section) in Sections::new(self.slots, self.widest) {
                let there = there.0.saturating_sub(slot).min(section);
                let line = line.get(slot..slot + there).unwrap_or_default();
                self.section_of(rectangle, slot, section)[k * section..][..there]
                    .copy_from_slice(line);
            }
        }
    }

    /// Copies lines along K. Each line fills one slot.
    #[inline(always)]
    fn along_k(&mut self, rectangle: usize, there: (usize, usize), line: &mut [T]) {
        for (slot, section) in Sections::new(self.slots, self.widest) {
            for within in 0..there.0.saturating_sub(slot).min(section) {
                let from = self
                    .from
                    .from(self.origin.0 + slot + within, self.origin.1 + rectangle * self.step);
                (self.widening.row)(from, &mut line[..there.1]);
                let to =
                    self.section_of(rectangle, slot, section)[within..].iter_mut().step_by(section);
                to.zip(&line[..there.1]).for_each(|(to, from)| *to = *from);
            }
        }
    }
}
