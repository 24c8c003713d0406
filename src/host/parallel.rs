//! Parallel loops: the only use of the thread pool in the executor.

use crate::sys::float_mode::DefaultFloatMode;
use rayon::prelude::*;

/// Runs `work` for every piece of `length` elements; the last piece may be shorter. A single piece
/// runs on the calling thread, because the hand-over to the pool adds about 10 µs.
pub(super) fn parallel_pieces<T: Send>(
    elements: &mut [T],
    length: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    match elements.len() {
        0 => {}
        all if all <= length => work(0, elements),
        _ => elements.par_chunks_mut(length.max(1)).enumerate().for_each(|(number, piece)| {
            let _mode = DefaultFloatMode::enter();
            work(number, piece);
        }),
    }
}

/// Returns the number of threads.
pub(super) fn threads() -> usize {
    rayon::current_num_threads()
}

/// Calls `work` for every piece in parallel. The calling thread does a single piece.
///
/// # Errors
/// The first error in the order of the pieces.
pub(super) fn parallel_try<T: Send, E: Send>(
    pieces: Vec<T>,
    work: impl Fn(T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    if pieces.len() <= 1 {
        return pieces.into_iter().try_for_each(work);
    }
    let work = |piece| {
        let _mode = DefaultFloatMode::enter();
        work(piece)
    };
    let done: Vec<_> = pieces.into_par_iter().map(work).collect();
    done.into_iter().collect()
}

/// Returns `make(i)` for every `i` below `count`, in order.
pub(crate) fn parallel_map<T: Send>(
    count: usize,
    make: impl Fn(usize) -> T + Sync + Send,
) -> Vec<T> {
    let make = |number| {
        let _mode = DefaultFloatMode::enter();
        make(number)
    };
    (0..count).into_par_iter().map(make).collect()
}
