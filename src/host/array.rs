//! Arrays on the host: a call for each product, whose matrices the program's map of addresses finds.

use super::run::{HostKernel, Mode, run_on_host};
use crate::{
    call::{HostCall, HostSlice, Source},
    desc::GemmDesc,
    error::Error,
    index::{IndexMap, at},
    plan::HostProgram,
    schedule::Fault,
    threadblock::MATRICES_OF_PRODUCT,
};

/// A kernel as one of arrays: what it runs are the calls of all products, which are alike but for their matrices' memory.
#[derive(Clone, Copy, Debug)]
pub struct Array<'k, K>(pub &'k K);

impl HostKernel for Array<'_, GemmDesc> {
    type Call<'a> = Vec<HostCall<'a>>;

    /// In the fast mode, product by product, and so in the checked one of a warp-specialized kernel; else that is as the device does.
    fn run(&self, mode: Mode, mut calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        let Some(first) = calls.first() else { return Ok(()) };
        let desc = self.0.for_array(calls.len()).for_scalars(&first.scalars);
        let alone = desc.for_array(1);
        HostCall::check_array(&calls)?;
        // Whatever can be refused of any product is before one is computed.
        calls.iter().try_for_each(|call| call.problem().seen_by(&desc).map(drop))?;
        if matches!(mode, Mode::Checked { .. }) && desc.class.mode.is_array() {
            desc.check()?;
            if let HostProgram::OneSchedule(program) = desc.plan()?.program()? {
                return run_on_host(&Array(&*program), mode, calls);
            }
        }
        calls.drain(..).try_for_each(|call| run_on_host(&alone, mode, call))
    }
}

/// Where an array of so many products has matrix `column` of product `row`: which product's, and its number there.
fn matrix_of(addresses: &dyn IndexMap, count: usize, (row, column): (u32, u32)) -> Result<(usize, u32), Fault> {
    let place = addresses.at(at(row, column)).unwrap_or(u32::MAX);
    let (product, matrix) = ((place / MATRICES_OF_PRODUCT) as usize, place % MATRICES_OF_PRODUCT);
    if product < count { Ok((product, matrix)) } else { Err(Fault::LeftOut { map: "addresses", row, column }) }
}

/// A and B of such a product, which are read for as long as the calls' memory is.
///
/// # Errors
/// Those of [`product_of`].
pub(super) fn factors_of<'a>(
    calls: &[HostCall<'a>],
    addresses: &dyn IndexMap,
    product: usize,
) -> Result<[HostSlice<'a>; 2], Fault> {
    if let [batch] = calls {
        return Ok(batch.factors(product));
    }
    let row = product as u32;
    let [(of_a, _), (of_b, _)] = [matrix_of(addresses, calls.len(), (row, 0))?, matrix_of(addresses, calls.len(), (row, 1))?];
    Ok([calls[of_a].a.memory, calls[of_b].b.memory])
}

/// One product of a call that is a batch, or of the calls of an array, whose matrices are where `addresses` says.
///
/// # Errors
/// [`Fault::LeftOut`] where that is nowhere, or no matrix that there may be.
pub(super) fn product_of<'c>(
    calls: &'c mut [HostCall<'_>],
    addresses: &dyn IndexMap,
    product: usize,
) -> Result<HostCall<'c>, Fault> {
    if let [batch] = calls {
        return Ok(batch.product(product));
    }
    let (row, count) = (product as u32, calls.len());
    let matrix = |column| matrix_of(addresses, count, (row, column));
    let left_out = |column: u32| Fault::LeftOut { map: "addresses", row, column };
    let [(of_a, 0), (of_b, 1), of_c, (of_d, 3)] = [matrix(0)?, matrix(1)?, matrix(2)?, matrix(3)?] else {
        return Err(left_out(0));
    };
    let (a, b) = (calls[of_a].a, calls[of_b].b);
    let c = match (calls[of_c.0].c, of_c.1) {
        (Source::None, _) => Source::None,
        (Source::Matrix(c), 2) => Source::Matrix(c),
        // D's address.
        (Source::InPlace, 2) | (_, 3) if of_c.0 == of_d => Source::InPlace,
        _ => return Err(left_out(2)),
    };
    let call = calls[of_d].product(0);
    Ok(HostCall { a, b, c, ..call })
}
