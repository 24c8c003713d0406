//! What follows from a description: facts that are computed, never stored.
//!
//! They are computed before the description is checked, too: sums and products stop at the largest number, and nothing panics.

use super::knobs::GemmDesc;
use crate::{
    arch::{ArchKind, OpKind},
    layout::Order,
    numeric::{Combined, ComputeKind, ElementKind},
    operand::OperandKind,
    shape::Mnk,
    threadblock::{
        Along, MainloopKind, SmemLayout, SmemTile, ThreadMap,
        thread_map::{WARP, at_least_one},
    },
    warp::{InterleaveKind, LaneArrangement, UnrollKind},
};

/// What the types of a GEMM say, apart from its configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Typed {
    pub a: ElementKind,
    pub b: ElementKind,
    pub c: ElementKind,
    pub accumulator: ElementKind,
    pub layout_a: Order,
    pub layout_b: Order,
    pub exchanged: bool,
    pub op: OpKind,
    pub arch: ArchKind,
}

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
        let mut width = match self.interleave {
            InterleaveKind::Vector => self.element.elements_in(16),
            InterleaveKind::Elements(elements) => elements,
        };
        while width > 1 && !self.thread_mn().is_multiple_of(width) {
            width /= 2;
        }
        width
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

impl GemmDesc {
    /// The element types.
    pub const fn combined(&self) -> Combined {
        Combined { a: self.a, b: self.b, accumulator: self.accumulator, c: self.c }
    }

    /// Warps of a block along M, N and K. A block whose tiles do not nest has none along that axis; `check` refuses it.
    pub const fn warps(&self) -> Mnk {
        Mnk {
            m: self.threadblock.m / at_least_one(self.warp.m),
            n: self.threadblock.n / at_least_one(self.warp.n),
            k: self.threadblock.k / at_least_one(self.warp.k),
        }
    }

    /// Threads of a block.
    pub const fn threads(&self) -> u32 {
        if let Some(components) = self.warp_specialized() {
            return components.ring.threads();
        }
        let warps = self.warps();
        WARP.saturating_mul(warps.m).saturating_mul(warps.n).saturating_mul(warps.k)
    }

    /// Threads that share one slice of K.
    pub const fn threads_per_slice(&self) -> u32 {
        let warps = self.warps();
        WARP.saturating_mul(warps.m).saturating_mul(warps.n)
    }

    /// How the lanes of a warp share its tile: as a thread's tile says, where that is a knob.
    pub const fn lanes(&self) -> LaneArrangement {
        if self.mainloop.has_roles() && matches!(self.op, OpKind::Simt) {
            let (warp, thread) = (self.warp, self.instruction);
            return LaneArrangement {
                m: at_least_one(warp.m / at_least_one(thread.m)),
                n: at_least_one(warp.n / at_least_one(thread.n)),
            };
        }
        LaneArrangement::of(self.warp.m, self.warp.n)
    }

    /// One operand.
    pub const fn operand(&self, operand: OperandKind) -> OperandDesc {
        let lanes = self.lanes();
        let (element, k_contiguous, align, choice, mn, warp_mn, lanes) = match operand {
            OperandKind::A => {
                (self.a, self.layout_a.is_row(), self.align_a, self.smem_a, self.threadblock.m, self.warp.m, lanes.m)
            }
            OperandKind::B => {
                (self.b, !self.layout_b.is_row(), self.align_b, self.smem_b, self.threadblock.n, self.warp.n, lanes.n)
            }
        };
        let turns = k_contiguous != choice.along().is(Along::K);
        // An asynchronous copy cannot take a vector apart: it moves one element at a time.
        let access = if turns && self.copies_asynchronously() { 1 } else { align };
        let k = self.threadblock.k;
        // A warp's store has one element of each of its lanes' vectors.
        let together = ThreadMap::lanes(k / at_least_one(access), element.bytes_of(access), true).saturating_mul(access);
        let smem = SmemTile::of(choice, mn, k, element, if turns { Some(together) } else { None });
        OperandDesc { element, k_contiguous, access, smem, threads: self.threads(), warp_mn, lanes, interleave: self.interleave }
    }

    /// Whether tiles come without passing through registers.
    pub const fn copies_asynchronously(&self) -> bool {
        matches!(self.mainloop, MainloopKind::Multistage)
    }

    /// K-groups in one turn of the loop over a tile's.
    pub const fn groups_a_turn(&self) -> u32 {
        match self.unroll {
            UnrollKind::Full => self.warp.k,
            UnrollKind::By(groups) => groups,
        }
    }

    /// Accumulators of a thread.
    pub const fn accumulators(&self) -> u32 {
        let lanes = self.lanes();
        (self.warp.m / lanes.m).saturating_mul(self.warp.n / lanes.n)
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
        self.accumulator.bytes_of(self.threadblock.m.saturating_mul(self.threadblock.n))
    }

    /// Shared memory of a block, in bytes. Deposits lie where the stages were.
    pub const fn smem_bytes(&self) -> u32 {
        if let Some(components) = self.warp_specialized() {
            return components.ring.shared_bytes();
        }
        let (stages, deposit) = (self.stages.saturating_mul(self.stage_bytes()), self.deposit_bytes());
        if stages > deposit { stages } else { deposit }
    }

    /// Elements of D that a thread stores at once: neighbours along N, within the interleave of its fragment.
    pub const fn store_access(&self) -> u32 {
        let width = self.operand(OperandKind::B).interleave();
        if self.align_c < width { self.align_c } else { width }
    }

    /// The registers a thread needs, so that none is spilled: accumulators, the fragments of both operands, what an operand's
    /// copies take, and [`OVERHEAD`](Self::OVERHEAD).
    pub const fn registers(&self) -> u32 {
        let (a, b) = (self.operand(OperandKind::A), self.operand(OperandKind::B));
        let words = self.accumulator.bits().div_ceil(32);
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
        if matches!(self.mainloop, MainloopKind::SingleStage) {
            2
        } else if self.a.bits() == 8 {
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
        let threads = self.threads().saturating_mul(self.blocks_per_sm).div_ceil(4 * WARP).saturating_mul(4 * WARP);
        let share = per_sm / at_least_one(threads) / 8 * 8;
        if share < 255 { share } else { 255 }
    }

    /// The same kernel with A and B in each other's place: layouts transposed, each operand's knobs with it. D keeps the kernel's order, and
    /// so has the user's other one.
    pub const fn exchange(self) -> Self {
        let types = Typed {
            a: self.b,
            b: self.a,
            c: self.c,
            accumulator: self.accumulator,
            layout_a: self.layout_b.transposed(),
            layout_b: self.layout_a.transposed(),
            exchanged: !self.exchanged,
            op: self.op,
            arch: self.arch,
        };
        Self { compute: self.compute, layout_c: self.layout_c, ..Self::from_parts(types, self.knobs().exchange()) }
    }

    /// The description whose epilogue can compute with these scalars: integers give way to `f32` when a scalar is not whole.
    pub fn for_scalars(self, scalars: &[f64]) -> Self {
        let whole = |x: &f64| x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX);
        let compute = if scalars.iter().all(whole) { self.compute } else { ComputeKind::F32 };
        Self { compute: if matches!(self.compute, ComputeKind::I32) { compute } else { self.compute }, ..self }
    }

    /// The description with narrower accesses: each alignment cut down to at most what is given.
    pub const fn narrowed(self, align_a: u32, align_b: u32, align_c: u32) -> Self {
        const fn least(x: u32, y: u32) -> u32 {
            if x < y { x } else { y }
        }
        Self {
            align_a: least(self.align_a, align_a),
            align_b: least(self.align_b, align_b),
            align_c: least(self.align_c, align_c),
            ..self
        }
    }

    /// Where the tiles of A and B lie, resolved from the choice.
    pub const fn smem_choice(&self, operand: OperandKind) -> SmemLayout {
        match operand {
            OperandKind::A => self.smem_a,
            OperandKind::B => self.smem_b,
        }
    }
}
