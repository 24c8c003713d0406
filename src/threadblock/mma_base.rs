//! What the main loops have in common whose threads all follow one schedule: the block, in values
//! of its components.
//!
//! Main loops read this and no description: whichever family makes a block of these components runs
//! them.

use crate::{
    numeric::ElementKind,
    operand::OperandKind,
    schedule::{Schedule, Step},
    smem::Along,
    threadblock::{MainloopKind, OperandDesc, WorkKind},
    warp::{
        mma_simt::ThreadTiles,
        mma_tensor_op::{FragmentMap, MatrixLoads, WarpInstruction, WordLoad},
    },
};

/// A block whose threads all follow one schedule. Facts are computed before they are checked, too:
/// sums and products stop at the largest number, and nothing panics.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MmaBase {
    /// The block's tile, those of its warps, and those of their threads.
    pub tiles: ThreadTiles,
    /// A and B.
    pub operands: [OperandDesc; 2],
    /// Elements that products are accumulated in.
    pub accumulator: ElementKind,
    /// How tiles come from global to shared memory.
    pub mainloop: MainloopKind,
    /// Tiles in shared memory at once.
    pub stages: u32,
    /// Elements of D that a thread stores at once: neighbours along N, within the interleave of its
    /// fragment.
    pub store_access: u32,
    /// How units of work are divided: whether a block goes on to another one.
    pub work: WorkKind,
    /// What warps multiply by; `None` of threads, each its own tile.
    pub instruction: Option<WarpInstruction>,
}

impl MmaBase {
    /// One operand.
    pub const fn operand(&self, operand: OperandKind) -> OperandDesc {
        self.operands[operand.index()]
    }

    /// K of a k-block: an instruction's, or 1.
    pub const fn step(&self) -> u32 {
        match self.instruction {
            Some(instruction) => instruction.shape().k,
            None => 1,
        }
    }

    /// Whether sums of integers stop at the ends of their range, instead of wrapping.
    pub const fn saturates(&self) -> bool {
        matches!(self.instruction, Some(instruction) if instruction.saturates())
    }

    /// K-blocks of a warp's tile: what one `Load` and one `Multiply` are of.
    pub const fn k_blocks(&self) -> u32 {
        self.tiles.warp.k / self.step()
    }

    /// An operand's part of a k-block, where warps multiply.
    pub const fn fragment(&self, operand: OperandKind) -> Option<FragmentMap> {
        match self.instruction {
            Some(instruction) => Some(FragmentMap::of(self.tiles, instruction, operand)),
            None => None,
        }
    }

    /// Elements of an operand's part of a k-block that a thread holds.
    pub const fn fragment_elements(&self, operand: OperandKind) -> u32 {
        match self.fragment(operand) {
            Some(fragment) => fragment.elements(),
            None => self.operand(operand).thread_mn(),
        }
    }

    /// How warps load it; `None` where each thread loads what it holds.
    pub const fn matrix_loads(&self, operand: OperandKind) -> Option<MatrixLoads> {
        let facts = self.operand(operand);
        match self.fragment(operand) {
            Some(fragment) => {
                MatrixLoads::of(fragment, WordLoad::of(facts.element, facts.smem.along))
            }
            None => None,
        }
    }

    /// Elements in one access to shared memory when a fragment loads, and whether they lie along K.
    pub const fn fragment_access(&self, operand: OperandKind) -> (u32, bool) {
        let facts = self.operand(operand);
        match (self.matrix_loads(operand), self.instruction) {
            (Some(loads), _) => (loads.row_elements(), facts.smem.along.is(Along::K)),
            (None, Some(_)) => (1, false),
            (None, None) => (facts.fragment_access(), false),
        }
    }

    /// Bytes of one stage of both operands.
    pub const fn stage_bytes(&self) -> u32 {
        self.operands[0].stage_bytes().saturating_add(self.operands[1].stage_bytes())
    }

    /// Bytes of the partial accumulators of slices of K.
    pub const fn partials_bytes(&self) -> u32 {
        if self.tiles.warps().k <= 1 {
            return 0;
        }
        self.accumulator.bytes_of(self.tiles.block.m.saturating_mul(self.tiles.block.n))
    }

    /// Shared memory of a block, in bytes. Partial accumulators lie where the stages were.
    pub const fn smem_bytes(&self) -> u32 {
        let (stages, partials) =
            (self.stages.saturating_mul(self.stage_bytes()), self.partials_bytes());
        if stages > partials { stages } else { partials }
    }

    /// Fragments of B that a thread holds. Warps that multiply hold one, whose words are loaded
    /// behind the products that take them; two of f64, whose instruction reads its operands when it
    /// begins, so that such a load would wait for it.
    pub const fn fragments_of_b(&self) -> u32 {
        match self.instruction {
            Some(instruction)
                if self.k_blocks() == 1 || instruction.input(OperandKind::B).bits() < 64 =>
            {
                1
            }
            _ => 2,
        }
    }

    /// Whether accesses of its copies are narrower than 16 bytes, so that there are many, for which
    /// loads behind them would wait.
    const fn copies_narrow(&self) -> bool {
        let [a, b] = &self.operands;
        a.element.bytes_of(a.access) < 16 && b.element.bytes_of(b.access) < 16
    }

    /// One turn of the main loop: what follows k-block `k_block` is loaded, `between` is done, and
    /// it is multiplied. Of a tile that is one k-block deep warps that multiply hold one fragment
    /// of A, too: it is loaded behind the products. Where they hold two of both, copies of 16 bytes
    /// come first: there are registers for their addresses until the loads begin.
    pub(super) fn turn(&self, k_block: u8, between: impl IntoIterator<Item = Step>) -> Vec<Step> {
        let next = (k_block + 1) % self.k_blocks() as u8;
        let between: Vec<Step> = between.into_iter().collect();
        let [load, multiply] = [Step::Load { k_block: next }, Step::Multiply { k_block }];
        let [load_a, multiply_load] =
            [Step::LoadA { k_block: next }, Step::MultiplyLoad { k_block, next }];
        match self.fragments_of_b() {
            2 if self.instruction.is_some() && !self.copies_narrow() => {
                [between, vec![load, multiply]].concat()
            }
            2 => [vec![load], between, vec![multiply]].concat(),
            _ if next == k_block => [between, vec![multiply_load, load_a]].concat(),
            _ => [vec![load_a], between, vec![multiply_load]].concat(),
        }
    }

    /// The order of steps; none of a warp-specialized main loop.
    ///
    /// A block that goes on to another unit of work copies to stages that it has read before. Every
    /// main loop has a barrier between its last read of a stage and its end; slices of K, which are
    /// read where the stages were, have one behind the last of them, for that.
    pub fn schedule(&self) -> Schedule {
        let mut schedule = self.mainloop.schedule(self);
        let slices = self.tiles.warps().k;
        for slice in 1..slices as u8 {
            schedule.epilogue.extend([
                Step::StorePartials { slice },
                Step::Barrier,
                Step::ReducePartials { slice },
            ]);
            if u32::from(slice) + 1 < slices || self.goes_on() {
                // The next slice stores where this one was read, and the next unit copies there.
                schedule.epilogue.push(Step::Barrier);
            }
        }
        schedule
    }

    /// Whether a block has more units of work than one.
    const fn goes_on(&self) -> bool {
        !matches!(self.work, WorkKind::DataParallel)
    }

    /// Registers of a thread beside, where a block has: its unit's number, and what the assembler
    /// keeps from unit to unit. Drawn kernels spill without them
    /// (`kernels_of_streams_of_one_schedule_compile_clean`).
    pub(crate) const fn registers_of_units(&self) -> u32 {
        if self.goes_on() { 10 } else { 0 }
    }
}
