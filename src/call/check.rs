//! Whether a call can be computed: extents, distances, lengths, scalars.

use super::{Call, DEPTH, Memory, Source, TypedMemory, View};
use crate::{
    desc::{Class, GemmDesc},
    layout::Order,
    numeric::ComputeKind,
    operand::{Axis, OperandKind},
    refusal::{Field, Operand, Refusal, Scalar, SplitRefusal},
};

/// The largest extent: block coordinates within a tile's reach of it stay below 2^32.
pub(crate) const LARGEST: usize = i32::MAX as usize;

impl<R: Memory, W: Memory> Call<R, W> {
    /// Whether a kernel of description `d` can compute this, which is in its frame: extents, distances, lengths, what the epilogue reads.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the kernel's operand, its value and the limit.
    pub(super) fn check(&self, d: &GemmDesc) -> Result<(), Refusal> {
        for (axis, value) in [(Axis::M, self.m), (Axis::N, self.n), (Axis::K, self.k)] {
            if value > LARGEST {
                return Err(Refusal::ExtentTooLarge { field: Field::Extent(axis), value, most: LARGEST as u64 });
            }
        }
        if let Some(split) = d.warp_specialized().map(|d| d.knobs.emulation).filter(|split| split.splits()) {
            let depth = DEPTH as usize;
            let most = LARGEST / split.parts() as usize / depth * depth;
            if self.k > most {
                return Err(Refusal::Split(SplitRefusal::TooDeep { k: self.k, split, most: most as u64 }));
            }
        }
        let output = &d.class.output;
        let reads = output.epilogue.reads(&self.scalars);
        let integral = matches!(d.class.compute, ComputeKind::I32);
        if let Some(slot) = self.scalars.iter().position(|x| integral && !x.is_finite()) {
            return Err(Refusal::NotFinite { scalar: Scalar(slot as u8) });
        }
        check_output(Operand::D, &self.d, output.layout, (self.m, self.n))?;
        if reads.accumulator {
            for (operand, extents) in [(OperandKind::A, (self.m, self.k)), (OperandKind::B, (self.k, self.n))] {
                check_view(Operand::of(operand), self.operand(operand), d.class.operand(operand).layout, extents)?;
            }
        }
        match &self.c {
            Source::Matrix(c) if reads.source => check_output(Operand::C, c, output.layout, (self.m, self.n))?,
            Source::None if reads.source => return Err(Refusal::MissingOperand { operand: Operand::C }),
            _ => {}
        }
        let tile = d.threadblock();
        let tiles = self.m.div_ceil(tile.m as usize) as u64 * self.n.div_ceil(tile.n as usize) as u64;
        let most = u64::from(d.class.arch.machine().grid_x);
        if tiles > most {
            return Err(Refusal::TooManyTiles { tiles, most });
        }
        output.epilogue.check_functions()
    }
}

impl<R: TypedMemory, W: TypedMemory> Call<R, W> {
    /// Whether the matrices are of the types that a kernel of this class has. C is looked at where it is read.
    pub(crate) fn check_types(&self, class: &Class) -> Result<(), Refusal> {
        let c = self.c.matrix().filter(|_| class.output.epilogue.reads(&self.scalars).source);
        let output = class.output.element;
        let pairs = [
            (self.a.memory.kind(), class.a.element),
            (self.b.memory.kind(), class.b.element),
            (self.d.memory.kind(), output),
            (c.map_or(output, |c| c.memory.kind()), output),
        ];
        match pairs.into_iter().find(|(given, wanted)| given != wanted) {
            Some((given, wanted)) => Err(Refusal::ElementType { given, wanted }),
            None => Ok(()),
        }
    }
}

/// C and D lie in the order in which the kernel reads and writes them, and are there.
fn check_output<M: Memory>(operand: Operand, view: &View<M>, order: Order, extents: (usize, usize)) -> Result<(), Refusal> {
    match view.order(order, extents) {
        Some(found) if found != order => Err(Refusal::Strides { operand, strides: view.strides, order: Some(order) }),
        _ => check_view(operand, view, order, extents),
    }
}

/// Neighbours lie side by side in rows or in columns, those do not overlap, and all of them are there.
fn check_view<M: Memory>(
    operand: Operand,
    view: &View<M>,
    preferred: Order,
    (rows, columns): (usize, usize),
) -> Result<(), Refusal> {
    let order = view.order(preferred, (rows, columns)).ok_or(Refusal::Strides { operand, strides: view.strides, order: None })?;
    let (leading, least) = (view.leading(order), order.packed(rows, columns));
    if leading < least {
        return Err(Refusal::LeadingDimension { operand, value: leading, least, order });
    }
    let (needed, length) = (view.elements(rows, columns), view.memory.length());
    if needed > u128::from(u64::MAX) {
        return Err(Refusal::Overflow { operand, rows, columns, leading });
    }
    if (length as u128) < needed {
        return Err(Refusal::TooShort { operand, length, needed, rows, columns, leading });
    }
    Ok(())
}
