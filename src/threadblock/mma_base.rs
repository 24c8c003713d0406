//! What the main loops have in common whose threads all follow one schedule: the block, in values of its components.
//!
//! Main loops read this and no description: whichever family makes a block of these components runs them.

use crate::{
    numeric::ElementKind,
    operand::OperandKind,
    schedule::{Schedule, Step},
    threadblock::{MainloopKind, OperandDesc},
    warp::mma_simt::ThreadTiles,
};

/// A block whose threads all follow one schedule. Facts are computed before they are checked, too: sums and products stop at the largest
/// number, and nothing panics.
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
    /// Elements of D that a thread stores at once: neighbours along N, within the interleave of its fragment.
    pub store_access: u32,
}

impl MmaBase {
    /// One operand.
    pub const fn operand(&self, operand: OperandKind) -> OperandDesc {
        self.operands[operand.index()]
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
        let (stages, partials) = (self.stages.saturating_mul(self.stage_bytes()), self.partials_bytes());
        if stages > partials { stages } else { partials }
    }

    /// The order of steps; none of a warp-specialized main loop.
    pub fn schedule(&self) -> Schedule {
        let mut schedule = self.mainloop.schedule(self);
        let slices = self.tiles.warps().k;
        for slice in 1..slices as u8 {
            schedule.epilogue.extend([Step::StorePartials { slice }, Step::Barrier, Step::ReducePartials { slice }]);
            if u32::from(slice) + 1 < slices {
                // The next slice stores where this one was read.
                schedule.epilogue.push(Step::Barrier);
            }
        }
        schedule
    }
}
