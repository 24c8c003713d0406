//! Checks that the epilogue reads every argument of a call, and writes every result.

use crate::{
    epilogue::{EpilogueDesc, Op, SCALARS},
    operand::Source,
    refusal::{Operand, Refusal, Scalar},
    shape::{EpilogueOperand, Frame},
};

/// Index of beta among the scalars.
const BETA: usize = Scalar::BETA.0 as usize;

/// Checks that an epilogue reads each input that the user passes, and writes each result. An item
/// of `operands` is an operand, and whether the user passes it for results. `array` tells whether
/// the call is a pointer array. The epilogue is in the kernel's frame.
///
/// # Errors
/// [`Refusal`] of an operand that the epilogue does not have, of an input that the epilogue writes,
/// of a result that the epilogue reads, or of a result of a pointer array.
pub(crate) fn check_passed(
    (epilogue, frame): (&EpilogueDesc, Frame),
    mut operands: impl Iterator<Item = (EpilogueOperand, bool)>,
    array: bool,
) -> Result<(), Refusal> {
    operands.try_for_each(|(operand, written)| {
        let (name, of_kernel) = (Operand::Epilogue(operand), operand.enter(frame));
        match (epilogue.has(of_kernel), epilogue.writes(of_kernel)) {
            (false, _) if written => Err(Refusal::unwritten_operand(name)),
            (false, _) => Err(Refusal::unread_operand(name)),
            (_, writes) if writes != written => Err(Refusal::passed_as(name, written)),
            (_, true) if array => Err(Refusal::written_in_array(name)),
            _ => Ok(()),
        }
    })
}

/// Checks that an epilogue reads C and each scalar that the user passes. As in
/// BLAS, beta = 0 allows a C that the epilogue does not read.
///
/// # Errors
/// [`Refusal`] of an unread C, or an unread scalar.
pub(crate) fn check_read<C>(
    epilogue: &EpilogueDesc,
    c: &Source<C>,
    scalars: &[f64; SCALARS],
) -> Result<(), Refusal> {
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
