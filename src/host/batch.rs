//! Batches of small GEMMs on the host: pieces of a batch run in parallel, and each piece reuses its
//! scratch memory.

use super::parallel::{parallel_try, threads};
use crate::{call::HostCall, error::Error};

/// Multiply-adds of the largest GEMM that shares a piece with others. The blocks of a larger one
/// run in parallel.
const SMALL: usize = 1 << 22;

/// Multiply-adds of a piece, at least. Handing a piece to a thread takes some ten microseconds.
const PIECE: usize = 1 << 17;

/// Multiply-adds that take the time of a GEMM's checks and allocations.
const OVERHEAD: usize = 1 << 12;

/// Pieces of each thread, so that all threads end at about the same time.
const PIECES: usize = 8;

/// GEMMs of one piece, of `count` with such extents.
pub(super) fn gemms_of_piece((m, n, k): (usize, usize, usize), count: usize) -> usize {
    let work = m.saturating_mul(n).saturating_mul(k).saturating_add(OVERHEAD);
    if work > SMALL {
        return count;
    }
    PIECE.div_ceil(work).max(count.div_ceil(PIECES * threads()))
}

/// Does `compute` for each GEMM of a batch and its number, with the scratch memory of its piece.
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
