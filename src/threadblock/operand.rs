//! One operand of a block whose threads all follow one schedule: how it lies, and who moves what of
//! it.

use crate::{
    numeric::ElementKind,
    shape::at_least_one,
    smem::{Along, SmemTile},
    threadblock::ThreadMap,
    warp::{InterleaveKind, mma_simt},
};

/// What a description says of one operand. `mn` is M for A and N for B.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OperandDesc {
    /// Elements.
    pub element: ElementKind,
    /// Whether K runs through consecutive addresses in global memory.
    pub k_contiguous: bool,
    /// Elements in one access to global memory.
    pub access: u32,
    /// The tile in shared memory.
    pub smem: SmemTile,
    /// Threads of the block.
    pub threads: u32,
    /// Extent of the warp's tile along M or N.
    pub warp_mn: u32,
    /// Lanes of the warp along M or N.
    pub lanes: u32,
    /// How many neighbours a lane holds, as chosen.
    pub interleave: InterleaveKind,
}

impl OperandDesc {
    /// Extent of the tile along the index that is contiguous in global memory, in elements.
    pub const fn tile_contiguous(&self) -> u32 {
        if self.k_contiguous { self.smem.k } else { self.smem.mn }
    }

    /// Extent along the other.
    pub const fn tile_strided(&self) -> u32 {
        if self.k_contiguous { self.smem.mn } else { self.smem.k }
    }

    /// Elements of M or N of which a tile begins at a multiple: those of a vector along it.
    pub const fn mn_step(&self) -> u32 {
        if self.k_contiguous { 1 } else { self.access }
    }

    /// Whether a vector from global memory has to be taken apart: its elements are not neighbours
    /// in shared memory.
    pub const fn turns(&self) -> bool {
        self.k_contiguous != self.smem.along.is(Along::K)
    }

    /// Elements of one store, or one asynchronous copy, to shared memory.
    pub const fn shared_access(&self) -> u32 {
        if self.turns() { 1 } else { self.smem.vector(self.access) }
    }

    /// Bytes of one access to global memory.
    pub const fn access_bytes(&self) -> u32 {
        self.element.bytes_of(self.access)
    }

    /// Which thread copies which vector.
    pub const fn thread_map(&self) -> ThreadMap {
        ThreadMap::of(
            self.threads,
            self.tile_contiguous() / at_least_one(self.access),
            self.tile_strided(),
            self.access_bytes(),
            self.turns(),
        )
    }

    /// The (mn, k) of element `element` of the vector at (`strided`, `contiguous`).
    pub const fn coordinate(&self, (strided, contiguous): (u32, u32), element: u32) -> (u32, u32) {
        let along = contiguous * self.access + element;
        if self.k_contiguous { (strided, along) } else { (along, strided) }
    }

    /// Elements along M or N that a thread holds of a fragment.
    pub const fn thread_mn(&self) -> u32 {
        self.warp_mn / self.lanes
    }

    /// Neighbouring elements along M or N that a thread holds before the next lane's begin.
    pub const fn interleave(&self) -> u32 {
        mma_simt::interleave(self.interleave, self.element, self.thread_mn())
    }

    /// Elements in one access to shared memory when fragments load.
    pub const fn fragment_access(&self) -> u32 {
        let (run, most) = (self.interleave(), self.element.elements_in(16));
        if self.smem.along.is(Along::K) {
            1
        } else {
            self.smem.vector(if run < most { run } else { most })
        }
    }

    /// Registers that a thread's part of a tile takes on its way to shared memory.
    pub const fn staged_words(&self) -> u32 {
        self.thread_map().accesses().saturating_mul(self.access_bytes().div_ceil(4))
    }

    /// Bytes of one stage.
    pub const fn stage_bytes(&self) -> u32 {
        match self.element.bytes_of(self.smem.elements()).checked_next_multiple_of(16) {
            Some(bytes) => bytes,
            None => u32::MAX,
        }
    }
}
