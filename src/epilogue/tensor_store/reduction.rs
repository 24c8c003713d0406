//! Parallel split-K of warpgroups: the second kernel has one block for each octet of columns of a
//! consumer's share of a tile. A thread of a block adds and stores four accumulators.
//!
//! Twin: `kernels/epilogue/tensor_store/reduction.cuh`.

use crate::{
    epilogue::{partials::TOGETHER, reduction::Reduction},
    warp::warpgroup::THREADS,
};

impl Reduction {
    /// Returns the launch for a tile of `sharing` consumers with `accumulators` per thread.
    pub(crate) const fn of_octets(sharing: u32, accumulators: u32) -> Self {
        Self { blocks: sharing * (accumulators / TOGETHER), threads: THREADS }
    }
}
