//! What follows from a description: facts that are computed, never stored.
//!
//! They are computed before the description is checked, too: sums and products stop at the largest number, and nothing panics.

use super::{
    gemm_desc::{GemmDesc, SimtDesc},
    knobs::Pins,
};
use crate::{
    numeric::{ComputeKind, ElementKind},
    operand::OperandKind,
    shape::Mnk,
    threadblock::{
        Along, MainloopKind, SmemLayout, SmemTile, ThreadMap, WarpSpecialized,
        thread_map::{WARP, at_least_one},
    },
    warp::{
        InterleaveKind, LaneArrangement, UnrollKind,
        mma_simt::{self, ThreadTiles},
    },
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

    /// Whether a vector from global memory has to be taken apart: its elements are not neighbours in shared memory.
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
        if self.smem.along.is(Along::K) { 1 } else { self.smem.vector(if run < most { run } else { most }) }
    }

    /// Registers that a thread's part of a tile takes on its way to shared memory.
    pub const fn staged_words(&self) -> u32 {
        self.thread_map().accesses().saturating_mul(self.access_bytes().div_ceil(4))
    }

    /// Registers for the addresses of a swizzled tile: they do not fold into the accesses, as those of a linear one do.
    pub const SWIZZLE_REGISTERS: u32 = 24;

    /// Where a swizzle takes a fragment apart, each of its elements has an address of its own: as many registers again.
    const fn swizzle_registers(&self) -> u32 {
        match (self.smem.bits, self.fragment_access()) {
            (0, _) => 0,
            (_, 1) => 2 * Self::SWIZZLE_REGISTERS,
            _ => Self::SWIZZLE_REGISTERS,
        }
    }

    /// Bytes of one stage.
    pub const fn stage_bytes(&self) -> u32 {
        match self.element.bytes_of(self.smem.elements()).checked_next_multiple_of(16) {
            Some(bytes) => bytes,
            None => u32::MAX,
        }
    }
}

impl SimtDesc {
    /// The tiles of its threads.
    pub const fn tiles(&self) -> ThreadTiles {
        let (a, b) = (self.operand(OperandKind::A), self.operand(OperandKind::B));
        let interleave = [a.interleave(), b.interleave()];
        ThreadTiles { interleave, ..self.bare_tiles() }
    }

    /// Those whose runs are not known yet.
    const fn bare_tiles(&self) -> ThreadTiles {
        let (block, warp) = (self.knobs.threadblock, self.knobs.warp);
        ThreadTiles { block, warp, lanes: LaneArrangement::of(warp.m, warp.n), interleave: [1, 1] }
    }

    /// Warps of a block along M, N and K. A block whose tiles do not nest has none along that axis; `check` refuses it.
    pub const fn warps(&self) -> Mnk {
        self.bare_tiles().warps()
    }

    /// Threads of a block.
    pub const fn threads(&self) -> u32 {
        self.bare_tiles().threads()
    }

    /// Threads that share one slice of K.
    pub const fn threads_per_slice(&self) -> u32 {
        self.bare_tiles().threads_per_slice()
    }

    /// How the lanes of a warp share its tile.
    pub const fn lanes(&self) -> LaneArrangement {
        self.bare_tiles().lanes
    }

    /// One operand.
    pub const fn operand(&self, operand: OperandKind) -> OperandDesc {
        let (lanes, class, knobs) = (self.lanes(), &self.class, &self.knobs);
        let (block, warp) = (knobs.threadblock, knobs.warp);
        let (align, choice, mn, warp_mn, lanes) = match operand {
            OperandKind::A => (knobs.align_a, knobs.smem_a, block.m, warp.m, lanes.m),
            OperandKind::B => (knobs.align_b, knobs.smem_b, block.n, warp.n, lanes.n),
        };
        let (element, k_contiguous) = (class.operand(operand).element, class.k_contiguous(operand));
        let turns = k_contiguous != choice.along().is(Along::K);
        // An asynchronous copy cannot take a vector apart: it moves one element at a time.
        let access = if turns && self.copies_asynchronously() { 1 } else { align };
        let k = self.knobs.threadblock.k;
        // A warp's store has one element of each of its lanes' vectors.
        let together = ThreadMap::lanes(k / at_least_one(access), element.bytes_of(access), true).saturating_mul(access);
        let smem = SmemTile::of(choice, mn, k, element, if turns { Some(together) } else { None });
        OperandDesc {
            element,
            k_contiguous,
            access,
            smem,
            threads: self.threads(),
            warp_mn,
            lanes,
            interleave: self.knobs.interleave,
        }
    }

    /// Whether tiles come without passing through registers.
    pub const fn copies_asynchronously(&self) -> bool {
        matches!(self.knobs.mainloop, MainloopKind::Multistage)
    }

    /// K-groups in one turn of the loop over a tile's.
    pub const fn groups_a_turn(&self) -> u32 {
        match self.knobs.unroll {
            UnrollKind::Full => self.knobs.warp.k,
            UnrollKind::By(groups) => groups,
        }
    }

    /// Accumulators of a thread.
    pub const fn accumulators(&self) -> u32 {
        self.bare_tiles().accumulators()
    }

    /// Bytes of one stage of both operands.
    pub const fn stage_bytes(&self) -> u32 {
        self.operand(OperandKind::A).stage_bytes().saturating_add(self.operand(OperandKind::B).stage_bytes())
    }

    /// Bytes in which slices of K hand over their accumulators.
    pub const fn deposit_bytes(&self) -> u32 {
        if self.warps().k <= 1 {
            return 0;
        }
        self.class.accumulator.bytes_of(self.knobs.threadblock.m.saturating_mul(self.knobs.threadblock.n))
    }

    /// Shared memory of a block, in bytes. Deposits lie where the stages were.
    pub const fn smem_bytes(&self) -> u32 {
        let (stages, deposit) = (self.knobs.stages.saturating_mul(self.stage_bytes()), self.deposit_bytes());
        if stages > deposit { stages } else { deposit }
    }

    /// Elements of D that a thread stores at once: neighbours along N, within the interleave of its fragment.
    pub const fn store_access(&self) -> u32 {
        let width = self.operand(OperandKind::B).interleave();
        if self.knobs.align_c < width { self.knobs.align_c } else { width }
    }

    /// The registers a thread needs, so that none is spilled: accumulators, the fragments of both operands, what an operand's
    /// copies take, and [`OVERHEAD`](Self::OVERHEAD).
    pub const fn registers(&self) -> u32 {
        let (a, b) = (self.operand(OperandKind::A), self.operand(OperandKind::B));
        let words = self.class.accumulator.bits().div_ceil(32);
        let accesses = a.thread_map().accesses().saturating_add(b.thread_map().accesses());
        let fragments = a.thread_mn().saturating_add(b.thread_mn()).saturating_mul(self.fragments());
        self.accumulators()
            .saturating_add(fragments)
            .saturating_mul(words)
            .saturating_add(self.copy_registers(&a))
            .saturating_add(self.copy_registers(&b))
            .saturating_add(a.swizzle_registers() + b.swizzle_registers())
            .saturating_add(accesses.div_ceil(Self::ACCESSES_A_REGISTER))
            .saturating_add(Self::OVERHEAD)
    }

    /// Fragments of an operand at once: two; of bytes, the four whose products make one `dp4a`, while two more load; where both
    /// tiles lie along K, the four that one access loads.
    const fn fragments(&self) -> u32 {
        let (a, b) = (self.operand(OperandKind::A), self.operand(OperandKind::B));
        if matches!(self.knobs.mainloop, MainloopKind::SingleStage) {
            2
        } else if self.class.a.element.bits() == 8 {
            6
        } else if a.smem.along.is(Along::K) && b.smem.along.is(Along::K) {
            4
        } else {
            2
        }
    }

    /// Registers in which an operand's part of the next tile waits, one for the address of each row it comes from, and two that
    /// say whether the thread has a share of the last row.
    const fn copy_registers(&self, operand: &OperandDesc) -> u32 {
        let map = operand.thread_map();
        let staged = operand.staged_words().saturating_add(map.steps_strided());
        (if self.copies_asynchronously() { 0 } else { staged }).saturating_add(if map.idles() { 2 } else { 0 })
    }

    /// Registers for addresses, counters and limits. Measured, with [`ACCESSES_A_REGISTER`](Self::ACCESSES_A_REGISTER) and
    /// [`SWIZZLE_REGISTERS`](OperandDesc::SWIZZLE_REGISTERS), on random descriptions that just fit: the test
    /// `descriptions_that_just_fit_compile_clean` finds spills where they are less, and 128x128x16 of `f32`, twice on a
    /// multiprocessor, leaves no room for more.
    pub const OVERHEAD: u32 = 28;

    /// Accesses to global memory for each register that their addresses and predicates take.
    pub const ACCESSES_A_REGISTER: u32 = 4;

    /// The registers that a thread can have: a quarter of a kilobyte, or its share of the multiprocessor's, which are dealt to
    /// warps in eights for a thread, a quarter of them to every fourth warp.
    pub const fn registers_available(&self, per_sm: u32) -> u32 {
        let threads = self.threads().saturating_mul(self.knobs.blocks_per_sm).div_ceil(4 * WARP).saturating_mul(4 * WARP);
        let share = per_sm / at_least_one(threads) / 8 * 8;
        if share < 255 { share } else { 255 }
    }

    /// Where the tiles of A and B lie, resolved from the choice.
    pub const fn smem_choice(&self, operand: OperandKind) -> SmemLayout {
        match operand {
            OperandKind::A => self.knobs.smem_a,
            OperandKind::B => self.knobs.smem_b,
        }
    }
}

impl GemmDesc {
    /// Threads of a block; 0 of a description that is refused.
    pub const fn threads(&self) -> u32 {
        match (self.simt(), self.components()) {
            (Some(desc), _) => desc.threads(),
            (None, Some(components)) => components.ring.threads(),
            (None, None) => 0,
        }
    }

    /// Shared memory of a block, in bytes; 0 of a description that is refused.
    pub const fn smem_bytes(&self) -> u32 {
        match (self.simt(), self.components()) {
            (Some(desc), _) => desc.smem_bytes(),
            (None, Some(components)) => components.ring.shared_bytes(),
            (None, None) => 0,
        }
    }

    /// The components of a kernel of Hopper's; `None` of another, and of one that is refused.
    pub const fn components(&self) -> Option<WarpSpecialized> {
        match self.warp_specialized() {
            Some(desc) => desc.components(),
            None => None,
        }
    }

    /// The description whose epilogue can compute with these scalars: integers give way to `f32` when a scalar is not whole.
    pub fn for_scalars(mut self, scalars: &[f64]) -> Self {
        let whole = |x: &f64| x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX);
        if matches!(self.class.compute, ComputeKind::I32) && !scalars.iter().all(whole) {
            self.class.compute = ComputeKind::F32;
        }
        self
    }

    /// The description with narrower accesses: each alignment cut down to at most what is given.
    #[must_use]
    pub fn narrowed(self, given: [u32; 3]) -> Self {
        let [a, b, c] = self.alignments();
        let pins =
            Pins { align_a: Some(a.min(given[0])), align_b: Some(b.min(given[1])), align_c: Some(c.min(given[2])), ..Pins::NONE };
        self.pinned(pins)
    }
}
