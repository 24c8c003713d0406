//! Pointer arrays on the host: one call per GEMM. The program's map of records finds the matrices
//! of each GEMM.

use super::{
    batch::gemms_of_piece,
    parallel::parallel_try,
    run::{HostKernel, run_on_host},
};
use crate::{
    Error,
    layout::index_map::{IndexMap, at},
    nest::GemmDesc,
    operand::{HostCall, Source},
    schedule::Fault,
    threadblock::{MATRICES_OF_PRODUCT, ProductRecords},
};

/// A kernel that runs as a kernel for pointer arrays. It takes one call per GEMM, and the calls
/// differ only in the memory of their matrices.
#[derive(Clone, Copy, Debug)]
pub struct Array<'k, K>(pub &'k K);

impl HostKernel for Array<'_, GemmDesc> {
    type Call<'a> = Vec<HostCall<'a>>;

    /// Runs the GEMMs one by one.
    fn run(&self, mut calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        let Some(alone) = self.desc(&calls)?.map(|desc| desc.for_array(1)) else { return Ok(()) };
        let Some(first) = calls.first() else { return Ok(()) };
        let each = gemms_of_piece((first.m, first.n, first.k), calls.len()).max(1);
        let mut pieces = Vec::new();
        while !calls.is_empty() {
            pieces.push(calls.split_off(calls.len().saturating_sub(each)));
        }
        pieces.reverse();
        parallel_try(pieces, |piece| {
            piece.into_iter().try_for_each(|call| run_on_host(&alone, call))
        })
    }
}

impl Array<'_, GemmDesc> {
    /// Checks the calls, and returns the description of their kernel. `None` without calls.
    ///
    /// # Errors
    /// The refusal of a call, before any GEMM is computed.
    pub fn desc(&self, calls: &[HostCall<'_>]) -> Result<Option<GemmDesc>, Error> {
        let Some(first) = calls.first() else { return Ok(None) };
        let desc = self.0.for_array(calls.len()).for_scalars(&first.scalars);
        HostCall::check_array(calls)?;
        calls.iter().try_for_each(|call| call.problem().enter(&desc).map(drop))?;
        Ok(Some(desc))
    }
}

/// Returns the GEMM and the matrix number to which the map of records sends matrix `column` of GEMM
/// `row`, in an array of `count` GEMMs.
///
/// # Errors
/// [`Fault::LeftOut`] if the map has no matrix there.
pub fn matrix_of(
    records: &dyn IndexMap,
    count: usize,
    (row, column): (u32, u32),
) -> Result<(usize, u32), Fault> {
    let record = ProductRecords { products: 1, positions: false };
    let place = records.at(at(row, column)).unwrap_or(u32::MAX);
    let (product, word) = ((place / record.words()) as usize, place % record.words());
    let matrix = (0..MATRICES_OF_PRODUCT).find(|&piece| record.at(at(0, piece)) == Some(word));
    let found = matrix.filter(|_| product < count).map(|matrix| (product, matrix));
    found.ok_or(Fault::LeftOut { map: "records", row, column })
}

/// Returns one GEMM of a batched call, or of the calls of an array. The map of records of an
/// array selects the matrices.
///
/// # Errors
/// [`Fault::LeftOut`] if the map of records has no matrix there, or a matrix of another kind.
pub fn product_of<'c>(
    calls: &'c mut [HostCall<'_>],
    records: &dyn IndexMap,
    product: usize,
) -> Result<HostCall<'c>, Fault> {
    if let [batch] = calls {
        return Ok(batch.product(product));
    }
    let (row, count) = (product as u32, calls.len());
    let matrix = |column| matrix_of(records, count, (row, column));
    let left_out = |column: u32| Fault::LeftOut { map: "records", row, column };
    let [(of_a, 0), (of_b, 1), of_c, (of_d, 3)] = [matrix(0)?, matrix(1)?, matrix(2)?, matrix(3)?]
    else {
        return Err(left_out(0));
    };
    let (a, b) = (calls[of_a].a, calls[of_b].b);
    let c = match (calls[of_c.0].c, of_c.1) {
        (Source::None, _) => Source::None,
        (Source::Matrix(c), 2) => Source::Matrix(c),
        // C in place has D's address.
        (Source::InPlace, 2) | (_, 3) if of_c.0 == of_d => Source::InPlace,
        _ => return Err(left_out(2)),
    };
    let call = calls[of_d].product(0);
    Ok(HostCall { a, b, c, ..call })
}
