//! The verification of rungs on the host.

use super::{Program, Rung, SIZE_STEP, Textbook, traffic::PRODUCT};
use crate::{owned::HostProduct, verify::Verdict};
use falchion::{
    Error,
    internals::operand::{HostMatrices, Problem},
};
use falchion_check::Mode;

/// K of the GEMM that verifies a rung: more k-tiles than any rung has stages.
const DEPTH: usize = 192;

/// Runs a rung on the checked machine, and compares every element of the result. The
/// textbook kernels have nothing to check for races, so they run as plain loops.
///
/// # Errors
/// [`Error::Fault`] if the machine finds a fault.
pub fn verify(rung: &Rung) -> Result<Verdict, Error> {
    let desc = match rung.program {
        Program::Gemm(desc) => desc,
        Program::Textbook(_) => Textbook::types()?,
    };
    let rows = SIZE_STEP;
    let mut product = HostProduct::poisoned(
        &desc,
        &Problem::new(&desc, (rows, rows, DEPTH), [None; 3], PRODUCT),
    )?;
    let [operands, _] = product.distributions(&desc);
    product.a.draw(operands, 1)?;
    product.b.draw(operands, 2)?;
    match rung.program {
        Program::Gemm(desc) => product.run(&desc, Mode::Checked { seed: 3 })?,
        Program::Textbook(_) => {
            let HostMatrices { a, b, d, .. } = product.matrices()?;
            Textbook::multiply(
                rows,
                DEPTH,
                a.elements::<f32>()?,
                b.elements::<f32>()?,
                d.elements::<f32>()?,
            );
        }
    }
    product.verify(&desc)
}
