//! Batches of small GEMMs on the host: pieces of a batch run in parallel, and each piece reuses its
//! scratch memory.

use super::parallel::{parallel_try, threads};
use crate::{Error, operand::HostCall};

/// Multiply-adds of the largest GEMM that shares a piece with other GEMMs. The blocks of a larger
/// GEMM run in parallel.
const SMALL: usize = 1 << 22;

/// Least number of multiply-adds of a piece, which hide the cost of a hand-off to a thread.
const PIECE: usize = 1 << 17;

/// Number of multiply-adds with the cost of the checks and allocations of one GEMM.
const OVERHEAD: usize = 1 << 12;

/// Pieces per thread, so that all threads end at about the same time.
const PIECES: usize = 8;

/// Returns the number of GEMMs in one piece of a batch of `count` m x n x k GEMMs.
pub(super) fn gemms_of_piece((m, n, k): (usize, usize, usize), count: usize) -> usize {
    let work = m.saturating_mul(n).saturating_mul(k).saturating_add(OVERHEAD);
    if work > SMALL {
        return count;
    }
    PIECE.div_ceil(work).max(count.div_ceil(PIECES * threads()))
}

/// Calls `compute` for each GEMM of a batch, with the scratch memory of its piece and its number.
///
/// # Errors
/// The first error of `compute` in the order of the batch.
pub(super) fn each_gemm<S: Default>(
    call: &mut HostCall<'_>,
    compute: impl Fn(&mut S, usize, HostCall<'_>) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let each = gemms_of_piece((call.m, call.n, call.k), call.batch).max(1);
    let piece = |first: usize, call: &mut HostCall<'_>| {
        let mut scratch = S::default();
        (0..call.batch)
            .try_for_each(|number| compute(&mut scratch, first + number, call.product(number)))
    };
    if each >= call.batch || !call.has_consecutive_outputs() {
        return piece(0, call);
    }
    let pieces = (0..).step_by(each).zip(call.pieces(each)).collect();
    parallel_try(pieces, |(first, mut call)| piece(first, &mut call))
}
