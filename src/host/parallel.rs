//! Work side by side: the executor's one entry to the pool of threads.

use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Does `work` for every number below `count`, in any order and side by side.
pub(super) fn parallel(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

/// Does `work` for every piece of `length` elements; the last may be shorter.
pub(super) fn parallel_pieces<T: Send>(elements: &mut [T], length: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    // Each lock is taken once: it hands its piece to whoever comes for it.
    let pieces: Vec<_> = elements.chunks_mut(length.max(1)).map(Mutex::new).collect();
    parallel(pieces.len(), &|i| work(i, &mut pieces[i].lock().unwrap_or_else(PoisonError::into_inner)));
}

/// What `make` makes of every number below `count`, in their order.
pub(super) fn parallel_map<T: Send + Default>(count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut all: Vec<T> = (0..count).map(|_| T::default()).collect();
    parallel_pieces(&mut all, 1, |i, one| one[0] = make(i));
    all
}
