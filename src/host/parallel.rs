//! Work side by side: the executor's one entry to the pool of threads.

use crate::sys::float_mode::DefaultFloatMode;
use rayon::prelude::*;

/// Does `work` for every piece of `length` elements; the last may be shorter. One piece is done
/// here: who hands it to the pool waits for it some ten microseconds longer.
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

/// What `make` makes of every number below `count`, in their order.
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
