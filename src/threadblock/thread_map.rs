//! Assignment of an operand tile's vectors to the threads that copy them.
//!
//! The tile has `strided` rows of `contiguous` vectors; a vector is one access to global memory.
//! The threads of a block form a grid, `threads_contiguous` wide, that steps over the tile. A warp
//! covers `lanes_contiguous` vectors of a row, so it reads whole sectors:
//!
//! ```text
//! lanes_contiguous = 4          contiguous ->
//!                    row 0:   0  1  2  3 | 32 33 34 35 ...
//!                    row 1:   4  5  6  7 | 36 37 38 39 ...
//! ```
//!
//! If the operand must be transposed (K-major in global memory, MN-major in shared memory), a warp
//! covers 32 bytes of a row. This is still a whole sector, and the warp's stores spread over as
//! many banks as possible.
//!
//! Twin: `kernels/threadblock/thread_map.cuh`.

use crate::{
    arch::WARP,
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine},
    },
    shape::at_least_one,
};

/// Size of a sector in bytes: the smallest unit of a global-memory transaction.
pub const SECTOR_BYTES: u32 = 32;

/// Map from (thread, access) to the index of a vector: `strided index * contiguous + contiguous
/// index`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadMap {
    /// Threads per block.
    pub threads: u32,
    /// Vectors per row of the tile.
    pub contiguous: u32,
    /// Rows of the tile.
    pub strided: u32,
    /// Lanes of a warp along a row.
    pub lanes_contiguous: u32,
    /// Warps of the block along a row.
    pub warps_contiguous: u32,
}

impl ThreadMap {
    /// Returns the map of `threads` threads over `strided` rows of `contiguous` vectors,
    /// `vector_bytes` bytes each. `transposes` marks an operand that must be transposed.
    pub const fn new(
        threads: u32,
        contiguous: u32,
        strided: u32,
        vector_bytes: u32,
        transposes: bool,
    ) -> Self {
        let (warps, lanes) = (threads / WARP, Self::lanes(contiguous, vector_bytes, transposes));
        // Warps are placed along the strided index as long as each has rows to copy.
        let mut along = 1;
        while (WARP / lanes) * (warps / along) > strided
            && warps.is_multiple_of(along * 2)
            && contiguous.is_multiple_of(lanes * along * 2)
        {
            along *= 2;
        }
        Self { threads, contiguous, strided, lanes_contiguous: lanes, warps_contiguous: along }
    }

    /// Returns the number of lanes of a warp along a row of `contiguous` vectors.
    pub const fn lanes(contiguous: u32, vector_bytes: u32, transposes: bool) -> u32 {
        let limit =
            if transposes { at_least_one(SECTOR_BYTES / at_least_one(vector_bytes)) } else { WARP };
        let mut lanes = 1;
        while lanes * 2 <= limit && contiguous.is_multiple_of(lanes * 2) {
            lanes *= 2;
        }
        lanes
    }

    /// Returns the number of threads along a row.
    pub const fn threads_contiguous(&self) -> u32 {
        self.lanes_contiguous * self.warps_contiguous
    }

    /// Returns the number of threads across rows.
    pub const fn threads_strided(&self) -> u32 {
        self.threads / self.threads_contiguous()
    }

    /// Returns the accesses per thread along a row.
    pub const fn steps_contiguous(&self) -> u32 {
        self.contiguous / self.threads_contiguous()
    }

    /// Returns the accesses per thread across rows. The last access is idle for some threads if the
    /// rows do not divide evenly.
    pub const fn steps_strided(&self) -> u32 {
        self.strided.div_ceil(at_least_one(self.threads_strided()))
    }

    /// Returns whether the last access across rows is idle for some threads.
    pub const fn idles(&self) -> bool {
        self.steps_strided().saturating_mul(self.threads_strided()) != self.strided
    }

    /// Returns the accesses per thread for one tile.
    pub const fn accesses(&self) -> u32 {
        self.steps_contiguous().saturating_mul(self.steps_strided())
    }

    /// Returns the (strided, contiguous) index of the vector of an access, or `None` if the access
    /// is idle.
    pub const fn vector(&self, thread: u32, access: u32) -> Option<(u32, u32)> {
        let (warp, lane) = (thread / WARP, thread % WARP);
        let contiguous =
            (warp % self.warps_contiguous) * self.lanes_contiguous + lane % self.lanes_contiguous;
        let strided = (warp / self.warps_contiguous) * (WARP / self.lanes_contiguous)
            + lane / self.lanes_contiguous;
        let row = strided + access / self.steps_contiguous() * self.threads_strided();
        if row >= self.strided {
            return None;
        }
        Some((row, contiguous + access % self.steps_contiguous() * self.threads_contiguous()))
    }
}

impl IndexMap for ThreadMap {
    fn domain(&self) -> Coord {
        Coord { row: self.threads, column: self.accesses() }
    }

    fn codomain(&self) -> u32 {
        self.contiguous * self.strided
    }

    fn at(&self, point: Coord) -> Option<u32> {
        self.vector(point.row, point.column).map(|(row, column)| row * self.contiguous + column)
    }

    fn layout(&self) -> Option<Composed> {
        let (lanes, warps, row) = (self.lanes_contiguous, self.warps_contiguous, self.contiguous);
        let of_warp = WARP / lanes;
        let threads = [
            (lanes, 1),
            (of_warp, row),
            (warps, lanes),
            (self.threads / WARP / warps, of_warp * row),
        ];
        let steps = [
            (self.steps_contiguous(), lanes * warps),
            (self.steps_strided(), self.threads_strided() * row),
        ];
        affine(self.domain(), &threads, &steps)
    }
}
