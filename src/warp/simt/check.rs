//! The rules of a SIMT kernel without a producer: those of its own knobs, and of its layouts in
//! shared memory.

use crate::{
    nest::GemmDesc,
    numeric::{ElementKind, TransformId},
    refusal::{
        Field, Legal, Operand, Part, Refusal, hold,
        rules::{nearest_power_of_two, within},
    },
    shape::{Axis, OperandKind},
    threadblock::{StagedOperand, mma::check, smem::SmemLayout},
    warp::{InterleaveKind, SimtKnobs},
};

impl SimtKnobs {
    /// Checks the knobs.
    pub(crate) const fn check(&self) -> Result<(), Refusal> {
        let warp = self.warp;
        let mut axis = 0;
        while axis < 2 {
            let (field, extent) = if axis == 0 {
                (Field::Warp(Axis::M), warp.m)
            } else {
                (Field::Warp(Axis::N), warp.n)
            };
            if !(extent.is_power_of_two() && extent >= 8 && extent <= 128) {
                return Err(Refusal::not_one_of(
                    field,
                    extent as u64,
                    Legal::OneOf(check::WARP_EXTENTS),
                    nearest_power_of_two(extent, 8, 128) as u64,
                ));
            }
            axis += 1;
        }
        hold!(within(Field::WarpArea, (warp.m * warp.n) as u64, 128, 4096));
        hold!(within(Field::Warp(Axis::K), warp.k as u64, 8, 64));
        if !warp.k.is_multiple_of(2) {
            let (field, buffers) = (Field::Warp(Axis::K), Part::FragmentBuffers);
            return Err(Refusal::does_not_nest(field, buffers, warp.k, 2, warp.k + 1));
        }
        if let InterleaveKind::Elements(elements) = self.interleave
            && !(elements.is_power_of_two() && elements <= 64)
        {
            let legal = Legal::OneOf(&[1, 2, 4, 8, 16, 32, 64]);
            let nearest = nearest_power_of_two(elements, 1, 64) as u64;
            return Err(Refusal::not_one_of(Field::Interleave, elements as u64, legal, nearest));
        }
        Ok(())
    }

    /// Checks the transforms of the operands.
    pub(crate) const fn check_multiplied(desc: &GemmDesc) -> Result<(), Refusal> {
        let mut i = 0;
        while i < OperandKind::BOTH.len() {
            let kind = OperandKind::BOTH[i];
            if let Some(id) = desc.operand(kind).multiplied.transform() {
                hold!(Self::check_transform(desc, kind, id));
            }
            i += 1;
        }
        Ok(())
    }

    /// Checks a transform of an operand. Threads widen stored elements to the type of the
    /// accumulators, apply the transform, and multiply.
    const fn check_transform(
        desc: &GemmDesc,
        operand: OperandKind,
        id: TransformId,
    ) -> Result<(), Refusal> {
        let (stored, f32) = (desc.operand(operand).stored, ElementKind::F32);
        if !id.stored.is(stored) {
            return Err(Refusal::transform_of_other_type(operand, id, stored));
        }
        if id.multiplied.is(f32) && desc.output.accumulator.is(f32) {
            return Ok(());
        }
        Err(Refusal::transform_of_others(
            operand,
            id,
            "SIMT kernels",
            "they multiply transformed elements as f32, with f32 accumulators",
            "try op = tensorop, or a transform to f32",
        ))
    }

    /// Checks the layout of an operand in shared memory.
    pub(crate) const fn check_operand(
        desc: &GemmDesc,
        kind: OperandKind,
        staged: &StagedOperand,
    ) -> Result<(), Refusal> {
        let operand = Operand::from_kind(kind);
        match desc.operand(kind).smem {
            SmemLayout::Auto => {}
            SmemLayout::Padded { padding, .. } => {
                hold!(within(Field::Padding(kind), padding as u64, 0, 64));
            }
            SmemLayout::Swizzled { bits, base, shift, .. } => {
                hold!(within(Field::SwizzleBits(kind), bits as u64, 1, 5));
                hold!(within(Field::SwizzleBase(kind), base as u64, 0, 5));
                hold!(within(Field::SwizzleShift(kind), shift as u64, 0, 8));
                let (chunk, row) = (1 << (bits + base), staged.smem.row());
                if !row.is_multiple_of(chunk) {
                    return Err(Refusal::swizzle_beyond_row(operand, chunk, row));
                }
            }
        }
        Ok(())
    }
}
