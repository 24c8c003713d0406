//! Facts shared by the main loops in which all threads follow one schedule.
//!
//! These main loops read [`MmaBase`] and no description. Any MMA that supplies its
//! [`MmaComponents`] can run in them.

use crate::{
    nest::{DecompositionKind, GemmDesc},
    numeric::ElementKind,
    schedule::{Schedule, Step},
    shape::OperandKind,
    threadblock::{Mainloop, StagedOperand, WorkKind},
    warp::{MmaComponents, ThreadTiles, TiledMma},
};

/// A threadblock whose threads all follow one schedule. Facts can be computed before the
/// description is checked: sums and products saturate, and nothing panics.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MmaBase {
    /// Tiles of the block, of its warps, and of their threads.
    pub tiles: ThreadTiles,
    /// Descriptions of A and B.
    pub operands: [StagedOperand; 2],
    /// Element type of the accumulators.
    pub accumulator: ElementKind,
    /// Main loop, which moves tiles from global to shared memory.
    pub mainloop: Mainloop,
    /// Number of stages in shared memory.
    pub stages: u32,
    /// Elements of D per store of a thread. They are neighbors along N, within one interleaved run
    /// of the thread's fragment.
    pub store_access: u32,
    /// Distribution of work units, which determines whether a block computes more than one unit.
    pub work: WorkKind,
    /// MMA of the warps.
    pub mma: TiledMma,
}

impl MmaBase {
    /// Returns the components of a CTA without a producer. They are arbitrary for another kernel.
    pub const fn new(desc: &GemmDesc) -> Self {
        let MmaComponents { tiles, operands, mma } = desc.mma.components(desc);
        Self {
            tiles,
            operands,
            accumulator: desc.output.accumulator,
            mainloop: desc.mainloop,
            stages: desc.mainloop.stages(),
            store_access: tiles.store_access(desc.output.access),
            work: match desc.work.decomposition {
                DecompositionKind::StreamK => WorkKind::StreamK,
                _ => WorkKind::DataParallel,
            },
            mma,
        }
    }

    /// Returns the registers that a thread needs without spills.
    pub const fn registers(&self) -> u32 {
        self.mma.registers(self)
    }

    /// Returns the description of one operand.
    pub const fn operand(&self, operand: OperandKind) -> StagedOperand {
        self.operands[operand.index()]
    }

    /// Returns the K extent of a k-block: the instruction's K, or 1 on CUDA cores.
    pub const fn step(&self) -> u32 {
        self.mma.step()
    }

    /// Returns the number of k-blocks per warp tile. One `Load` or `Multiply` step handles one
    /// k-block.
    pub const fn k_blocks(&self) -> u32 {
        self.tiles.warp.k / self.step()
    }

    /// Returns the number of elements of an operand that a thread holds per k-block.
    pub const fn fragment_elements(&self, operand: OperandKind) -> u32 {
        self.mma.fragment_elements(self, operand)
    }

    /// Returns the size of one stage of both operands in bytes.
    pub const fn stage_bytes(&self) -> u32 {
        self.operands[0].stage_bytes().saturating_add(self.operands[1].stage_bytes())
    }

    /// Returns the size of the partial accumulators of a warp slice in bytes; 0 without sliced K.
    pub const fn partials_bytes(&self) -> u32 {
        if self.tiles.warps().k <= 1 {
            return 0;
        }
        self.accumulator.bytes_of(self.tiles.block.m.saturating_mul(self.tiles.block.n))
    }

    /// Returns the size of the block's shared memory in bytes. Partial accumulators reuse the
    /// memory of the stages.
    pub const fn smem_bytes(&self) -> u32 {
        let (stages, partials) =
            (self.stages.saturating_mul(self.stage_bytes()), self.partials_bytes());
        if stages > partials { stages } else { partials }
    }

    /// Returns whether both operands are copied in accesses narrower than 16 bytes. Such tiles need
    /// many copies, and loads issued after the copies would wait for them.
    const fn copies_narrow(&self) -> bool {
        let [a, b] = &self.operands;
        a.element.bytes_of(a.access) < 16 && b.element.bytes_of(b.access) < 16
    }

    /// Returns the steps of one k-block: load k-block `k_block + 1`, perform `between`, and
    /// multiply k-block `k_block`. If a tile is one k-block deep, tensor-core warps hold one
    /// fragment of A and load it after the products. If they hold two fragments of both operands,
    /// copies of 16 bytes come first, because registers for copy addresses are free until the loads
    /// begin.
    pub(crate) fn k_block_steps(
        &self,
        k_block: u8,
        between: impl IntoIterator<Item = Step>,
    ) -> Vec<Step> {
        let next = (k_block + 1) % self.k_blocks() as u8;
        let between: Vec<Step> = between.into_iter().collect();
        let [load, multiply] = [Step::Load { k_block: next }, Step::Multiply { k_block }];
        let [load_a, multiply_load] =
            [Step::LoadA { k_block: next }, Step::MultiplyLoad { k_block, next }];
        match self.mma.fragments_of_b(self) {
            2 if self.mma.is_warp_wide() && !self.copies_narrow() => {
                [between, vec![load, multiply]].concat()
            }
            2 => [vec![load], between, vec![multiply]].concat(),
            _ if next == k_block => [between, vec![multiply_load, load_a]].concat(),
            _ => [vec![load_a], between, vec![multiply_load]].concat(),
        }
    }

    /// Returns the schedule; it is empty for a warp-specialized main loop.
    ///
    /// A block with another work unit overwrites stages that it has read before. Every main loop
    /// has a barrier between its last read of a stage and its end. The reduction of warp slices
    /// reads partial accumulators from the memory of the stages, so a barrier follows the last of
    /// them.
    pub fn schedule(&self) -> Schedule {
        let mut schedule = self.mainloop.schedule(self);
        let warp_slices = self.tiles.warps().k;
        for slice in 1..warp_slices as u8 {
            schedule.epilogue.extend([
                Step::StoreWarpSlice { slice },
                Step::Barrier,
                Step::ReduceWarpSlice { slice },
            ]);
            if u32::from(slice) + 1 < warp_slices || self.goes_on() {
                // The next warp slice overwrites the partial accumulators, and so do the copies of
                // the next work unit.
                schedule.epilogue.push(Step::Barrier);
            }
        }
        schedule
    }

    /// Returns the registers for the indices of a thread's lines of A and B.
    pub(crate) const fn index_registers(&self) -> u32 {
        let [a, b] = &self.operands;
        a.index_registers().saturating_add(b.index_registers())
    }

    /// Returns whether a block computes more than one work unit.
    const fn goes_on(&self) -> bool {
        !matches!(self.work, WorkKind::DataParallel)
    }

    /// Returns the registers per thread that hold state across work units: the unit's index, and
    /// values that the assembler keeps. It may keep the addresses of copies too, two registers
    /// each. Of random stream-K kernels with 32 copies or more, a tenth spilled before the
    /// addresses were counted; kernels with fewer copies rarely spill
    /// (`stream_k_of_one_schedule_compiles_clean`).
    pub(crate) const fn registers_of_units(&self) -> u32 {
        const STATE: u32 = 18;
        const MANY: u32 = 32;
        if !self.goes_on() {
            return 0;
        }
        let [a, b] = &self.operands;
        let copies = a.thread_map().accesses().saturating_add(b.thread_map().accesses());
        if copies < MANY { STATE } else { copies.saturating_mul(2).saturating_add(STATE) }
    }
}
