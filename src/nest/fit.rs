//! Resources of a description that is not checked yet: whether its tiles nest, the stages that
//! shared memory holds, and whether a CTA fits a multiprocessor.

use crate::{
    arch::WARP,
    nest::{GemmDesc, Pins, SpillKind},
    refusal::{Field, Operand, rules::check_alignment},
    shape::{Mnk, OperandKind},
    threadblock::{
        Mainloop, MainloopKind,
        mainloop::{MOST_STAGES, is_too_narrow},
        mma::check::{
            MOST_BLOCKS, MOST_WARPS, check_range, check_threadblock, registers_available,
        },
        tma_ring::shapes as tma_ring,
    },
};

/// Returns whether a shape is a whole number of `inner` shapes, and not empty.
pub(crate) const fn nests(outer: Mnk, inner: Mnk) -> bool {
    inner.m > 0
        && inner.n > 0
        && inner.k > 0
        && outer.m.is_multiple_of(inner.m)
        && outer.n.is_multiple_of(inner.n)
        && outer.k.is_multiple_of(inner.k)
}

/// Returns the greatest power of two that divides `extent`, up to `most`.
pub(crate) const fn widest_dividing(extent: u32, most: u32) -> u32 {
    match 1u32.checked_shl(extent.trailing_zeros()) {
        Some(widest) if widest < most => widest,
        _ => most,
    }
}

/// Returns the stages of `stage` bytes that `available` bytes hold next to `beside` bytes, at most
/// `stages`. `None` if fewer than two of several stages fit.
pub(crate) const fn fitting_stages(
    stages: u32,
    stage: u32,
    beside: u32,
    available: u32,
) -> Option<u32> {
    if beside.saturating_add(stages.saturating_mul(stage)) <= available {
        return Some(stages);
    }
    match available.saturating_sub(beside).checked_div(stage) {
        Some(fit @ 2..) => Some(fit),
        _ => None,
    }
}

impl GemmDesc {
    /// Returns whether a kernel can have the pinned knobs, whatever the free ones. Tests that
    /// `check` repeats for each description come first.
    pub(crate) const fn pins_may_fit(&self, pins: &Pins) -> bool {
        let limits = self.limits.blocks_per_sm <= MOST_BLOCKS
            && match pins.stages {
                Some(stages) => stages <= MOST_STAGES,
                None => true,
            };
        let asynchronous = match (pins.mainloop, pins.stages) {
            _ if self.has_producer() => false,
            (Some(mainloop), _) => mainloop.copies_asynchronously() && !mainloop.has_producer(),
            (None, stages) => matches!(stages, Some(3..)),
        };
        let tile = match pins.threadblock {
            Some(tile) => self.tile_may_fit(pins, tile),
            None => true,
        };
        limits
            && tile
            && self.operands_may_fit()
            && self.depths_may_fit(pins)
            && (self.has_producer() || self.warps_may_fit(pins))
            && (!asynchronous
                || MainloopKind::with_stages(None).is_some()
                    && self.arch.copies_asynchronously()
                    && !self.copies_narrowly(pins))
    }

    /// Returns whether a kernel can have the accesses and the transforms of A and B.
    const fn operands_may_fit(&self) -> bool {
        let mut i = 0;
        while i < 2 {
            let (kind, operand) = (OperandKind::BOTH[i], self.operands[i]);
            let (field, widest) =
                (Field::Alignment(Operand::from_kind(kind)), operand.stored.elements_in(16));
            if check_alignment(field, operand.access, widest).is_err() {
                return false;
            }
            i += 1;
        }
        self.has_producer() || self.mma.check_multiplied(self).is_ok()
    }

    /// Returns whether the pinned depths equal the depth of a stage, if the MMA prescribes one.
    const fn depths_may_fit(&self, pins: &Pins) -> bool {
        let Some(stage) = self.mma.stage_depth(self) else { return true };
        let (mut i, pinned) = (0, [pins.threadblock, pins.warp]);
        while i < pinned.len() {
            if let Some(Mnk { k, .. }) = pinned[i]
                && k != stage
            {
                return false;
            }
            i += 1;
        }
        true
    }

    /// Returns whether a pinned access of A or B is too narrow for asynchronous copies.
    pub(crate) const fn copies_narrowly(&self, pins: &Pins) -> bool {
        let (pinned, mut i) = ([pins.align_a, pins.align_b], 0);
        while i < 2 {
            if let Some(access) = pinned[i]
                && is_too_narrow(self.operands[i].stored, access)
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Returns whether a kernel without a producer can have the pinned warp tile, or warp tiles for
    /// the pinned threadblock tile.
    const fn warps_may_fit(&self, pins: &Pins) -> bool {
        match (pins.warp, pins.threadblock) {
            (Some(_), _) => self.registers_may_suffice(1) && self.mma.check_warp(self).is_ok(),
            (None, Some(tile)) => self.mma.fewest_warps(self, tile) <= MOST_WARPS,
            (None, None) => true,
        }
    }

    /// Returns whether a CTA of `warps` warps without a producer can have the registers of its warp
    /// tile, whatever its main loop and its accesses.
    pub(crate) const fn registers_may_suffice(&self, warps: u32) -> bool {
        if matches!(self.limits.spills, SpillKind::Allowed) {
            return true;
        }
        self.mma.least_registers(self.output.accumulator) <= self.most_registers(warps)
    }

    /// Returns the registers available to a thread of a CTA of `warps` warps without a producer.
    pub(crate) const fn most_registers(&self, warps: u32) -> u32 {
        let (threads, per_sm) = (WARP.saturating_mul(warps), self.arch.machine().registers_per_sm);
        registers_available(threads, self.limits.blocks_per_sm, per_sm)
    }

    /// Returns the bytes of the elements of one stage, as the kernel multiplies them.
    pub(crate) const fn bytes_of_stage(&self, tile: Mnk) -> u32 {
        let [a, b] = if self.has_producer() { self.multiplied().operands } else { self.operands };
        let of_a = a.stored.bytes_of(tile.m.saturating_mul(tile.k));
        of_a.saturating_add(b.stored.bytes_of(tile.n.saturating_mul(tile.k)))
    }

    /// Returns whether a kernel can have a threadblock tile, whatever its other free knobs: the
    /// tile is in range, shared memory holds one stage or the pinned ones, and a multiprocessor has
    /// the registers of the accumulators.
    pub(crate) const fn tile_may_fit(&self, pins: &Pins, tile: Mnk) -> bool {
        let (machine, blocks) = (self.arch.machine(), self.limits.blocks_per_sm);
        let in_range = match self.mainloop {
            Mainloop::TmaRing(_) => tile.m <= tma_ring::MOST_TILE && tile.n <= tma_ring::MOST_TILE,
            _ => check_range(tile).is_ok(),
        };
        if !in_range {
            return false;
        }
        let stage = self.bytes_of_stage(tile);
        let stages = match pins.stages {
            Some(stages) => stages,
            None => 1,
        };
        let sums = self.output.accumulator.bytes_of(tile.m * tile.n) / 4;
        stage.saturating_mul(stages) <= machine.shared_bytes_each_of(blocks)
            && (matches!(self.limits.spills, SpillKind::Allowed)
                || sums.saturating_mul(blocks) < machine.registers_per_sm)
    }

    /// Returns whether a description can be valid: warp tiles fill the threadblock tile, and shared
    /// memory holds the elements of its stages. A ring has whole vectors, and `wgmma` has its
    /// number of rows.
    pub(crate) const fn may_fit(&self) -> bool {
        let tile = self.threadblock();
        if !nests(tile, self.warp()) {
            return false;
        }
        let stage = self.bytes_of_stage(tile);
        let available = self.arch.machine().shared_bytes_each_of(self.limits.blocks_per_sm);
        self.mma.has_prescribed_rows()
            && stage.saturating_mul(self.stages()) <= available
            && (!self.has_producer() || self.has_whole_vectors())
    }

    /// Returns whether the accesses of A and B have 16 bytes, as TMA requires.
    const fn has_whole_vectors(&self) -> bool {
        let [a, b] = &self.operands;
        a.access == a.stored.elements_in(16) && b.access == b.stored.elements_in(16)
    }

    /// Returns the description with as many of its stages as shared memory holds, unless the stages
    /// are pinned. Returns it unchanged if shared memory holds fewer than two.
    #[must_use]
    pub(crate) const fn with_fitting_stages(self, pins: &Pins) -> Self {
        let fit = match self.mainloop {
            Mainloop::TmaRing(_) => self.fitting_stages_on_ring(),
            _ => self.stages_without_producer(),
        };
        match fit {
            Some(stages) if pins.stages.is_none() && stages != self.stages() => {
                self.pinned(Pins { stages: Some(stages), ..Pins::NONE })
            }
            _ => self,
        }
    }

    /// Returns the description with free knobs whose resources suffice: its stages fit, and so do
    /// the registers.
    pub(crate) const fn sufficing(&self, pins: &Pins) -> Option<Self> {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.sufficing_on_ring(pins),
            _ => {
                let desc = self.with_fitting_stages(pins);
                if desc.fits_without_producer() { Some(desc) } else { None }
            }
        }
    }
    /// Returns the stages that shared memory holds without a producer, at most those of the
    /// description.
    const fn stages_without_producer(&self) -> Option<u32> {
        let stage = self.base().stage_bytes();
        fitting_stages(self.stages(), stage, 0, self.shared_bytes_available())
    }

    /// Returns the bytes of shared memory that a CTA without a producer may use.
    const fn shared_bytes_available(&self) -> u32 {
        self.arch.machine().shared_bytes_each_of(self.limits.blocks_per_sm)
    }

    /// Returns whether the knobs of a description nest: the tiles are in range, and the main loop
    /// has its copies, or the accesses are as wide as TMA requires. The test is cheaper than the
    /// test of the resources.
    pub(crate) const fn nests(&self) -> bool {
        if self.has_producer() {
            return self.has_whole_vectors();
        }
        let (tile, warp) = (self.threadblock(), self.warp());
        if !nests(tile, warp) || check_threadblock(tile, warp).is_err() {
            return false;
        }
        let warps = (tile.m / warp.m) * (tile.n / warp.n) * (tile.k / warp.k);
        let asynchronous = self.mainloop.copies_asynchronously();
        self.registers_may_suffice(warps) && (!asynchronous || self.arch.copies_asynchronously())
    }

    /// Returns whether a CTA without a producer fits, whose tiles nest: accesses divide tiles, and
    /// a multiprocessor has the threads, the registers, and the shared memory.
    const fn fits_without_producer(&self) -> bool {
        let base = self.base();
        self.check_copies(&base).is_ok()
            && self.check_resources(&base, &self.arch.machine()).is_ok()
    }
}
