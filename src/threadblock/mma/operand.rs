//! One operand of a block whose threads all follow one schedule: its layouts and its accesses.

use crate::{
    numeric::ElementKind,
    shape::at_least_one,
    threadblock::{
        Mainloop, ThreadMap,
        smem::{Along, SmemTile},
    },
    warp::{InterleaveKind, thread_maps},
};

/// Registers for the copies of an operand, in shares of a register: for each staged word, each row
/// of accesses, each access, and an incomplete last row.
#[derive(Clone, Copy)]
pub(crate) struct CopyCost {
    pub word: u32,
    pub row: u32,
    pub access: u32,
    pub idle: u32,
}

/// Facts of one operand. `mn` stands for M of A and for N of B.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StagedOperand {
    /// Element type.
    pub element: ElementKind,
    /// Whether K is contiguous in global memory.
    pub k_contiguous: bool,
    /// Elements per access to global memory.
    pub access: u32,
    /// Tile in shared memory.
    pub smem: SmemTile,
    /// Threads per block.
    pub threads: u32,
    /// Extent of the warp tile along M or N.
    pub warp_mn: u32,
    /// Lanes of the warp along M or N.
    pub lanes: u32,
    /// Interleave of a lane's elements, as selected by the description.
    pub interleave: InterleaveKind,
    /// Whether an index list selects the lines.
    pub indexed: bool,
    /// Whether the lines belong to the two matrices of a gate.
    pub gated: bool,
}

impl StagedOperand {
    /// Returns the tile's extent in elements along the index that is contiguous in global memory.
    pub const fn tile_contiguous(&self) -> u32 {
        if self.k_contiguous { self.smem.k } else { self.smem.mn }
    }

    /// Returns the tile's extent along the other index.
    pub const fn tile_strided(&self) -> u32 {
        if self.k_contiguous { self.smem.mn } else { self.smem.k }
    }

    /// Returns the step in elements of M or N at which a tile may begin: the vector length along
    /// MN.
    pub const fn mn_step(&self) -> u32 {
        if self.k_contiguous { 1 } else { self.access }
    }

    /// Returns whether a vector from global memory must be transposed: its elements are not
    /// contiguous in shared memory.
    pub const fn transposes(&self) -> bool {
        self.k_contiguous != self.smem.along.is(Along::K)
    }

    /// Returns the elements per store, or per asynchronous copy, to shared memory.
    pub const fn shared_access(&self) -> u32 {
        if self.transposes() { 1 } else { self.smem.vector(self.access) }
    }

    /// Returns the size of one access to global memory in bytes.
    pub const fn access_bytes(&self) -> u32 {
        self.element.bytes_of(self.access)
    }

    /// Returns the map from threads to the vectors that they copy.
    pub const fn thread_map(&self) -> ThreadMap {
        ThreadMap::new(
            self.threads,
            self.tile_contiguous() / at_least_one(self.access),
            self.tile_strided(),
            self.access_bytes(),
            self.transposes(),
        )
    }

    /// Returns the (mn, k) of element `element` of the vector at (`strided`, `contiguous`).
    pub const fn coordinate(&self, (strided, contiguous): (u32, u32), element: u32) -> (u32, u32) {
        let along = contiguous * self.access + element;
        if self.k_contiguous { (strided, along) } else { (along, strided) }
    }

    /// Returns the fragment elements along M or N per thread.
    pub const fn thread_mn(&self) -> u32 {
        self.warp_mn / self.lanes
    }

    /// Returns the number of neighboring elements along M or N that a lane holds before the next
    /// lane's elements begin.
    pub const fn interleave(&self) -> u32 {
        thread_maps::interleave(self.interleave, self.element, self.thread_mn())
    }

    /// Returns the elements per shared-memory access of a fragment load.
    pub const fn fragment_access(&self) -> u32 {
        let (run, most) = (self.interleave(), self.element.elements_in(16));
        if self.smem.along.is(Along::K) {
            1
        } else {
            self.smem.vector(if run < most { run } else { most })
        }
    }

    /// Returns the shares of registers for the copies.
    pub(crate) const fn copy_shares(&self, cost: &CopyCost) -> u32 {
        let map = self.thread_map();
        let words = map.accesses().saturating_mul(self.access_bytes().div_ceil(4));
        let words = cost.word.saturating_mul(words);
        let rows = cost.row.saturating_mul(map.steps_strided());
        let accesses = cost.access.saturating_mul(map.accesses());
        words.saturating_add(rows).saturating_add(accesses).saturating_add(if map.idles() {
            cost.idle
        } else {
            0
        })
    }

    /// Returns the access whose copies need the fewest registers, and the widest of several. Copies
    /// of the main loop support the access, and it divides the tile.
    pub(crate) const fn leanest_access(&self, mainloop: &Mainloop, cost: &CopyCost) -> u32 {
        let asynchronous = mainloop.copies_asynchronously();
        let (mut access, mut best, mut least) =
            (self.element.elements_in(16), self.access, u32::MAX);
        while access > 0 {
            let one = Self { access, ..*self };
            let is_whole = !mainloop.is_too_narrow(self.element, access)
                && (!asynchronous || one.shared_access() == access);
            if is_whole && self.tile_contiguous().is_multiple_of(access) {
                let shares = one.copy_shares(cost);
                if shares < least {
                    (best, least) = (access, shares);
                }
            }
            access /= 2;
        }
        best
    }

    /// Returns the size of one stage in bytes, rounded up to a multiple of 16.
    pub const fn stage_bytes(&self) -> u32 {
        match self.element.bytes_of(self.smem.elements()).checked_next_multiple_of(16) {
            Some(bytes) => bytes,
            None => u32::MAX,
        }
    }
}
