//! Checks that the epilogue reads every argument of a call.

use crate::{
    epilogue::{EpilogueDesc, Op, SCALARS},
    operand::Source,
    refusal::{Operand, Refusal, Scalar},
    shape::{EpilogueOperand, Frame},
};

/// Index of beta among the scalars.
const BETA: usize = Scalar::BETA.0 as usize;

/// Checks that an epilogue reads each vector, C, and scalar that the user passes. The epilogue is
/// in the kernel's frame. As in BLAS, beta = 0 allows a C that the epilogue does not read.
///
/// # Errors
/// [`Refusal`] of an unread vector, an unread C, or an unread scalar.
pub(crate) fn check_read<C>(
    (epilogue, frame): (&EpilogueDesc, Frame),
    mut operands: impl Iterator<Item = EpilogueOperand>,
    c: &Source<C>,
    scalars: &[f64; SCALARS],
) -> Result<(), Refusal> {
    let unread = |operand: EpilogueOperand| !epilogue.has(operand.enter(frame));
    if let Some(operand) = operands.find(|operand| unread(*operand)) {
        return Err(Refusal::unread_operand(Operand::Epilogue(operand)));
    }
    let (given, beta) = (!matches!(c, Source::None), scalars[BETA]);
    if given && !epilogue.has_source() && beta != 0.0 {
        return Err(Refusal::unread_source(beta));
    }
    for (slot, &value) in scalars.iter().enumerate() {
        let neutral = match slot {
            0 => 1.0,
            BETA if given && epilogue.has_source() => 1.0,
            _ => 0.0,
        };
        if value != neutral && !epilogue.ops().contains(&Op::Scalar(slot as u8)) {
            return Err(Refusal::unread_scalar(Scalar(slot as u8), value, neutral));
        }
    }
    Ok(())
}
