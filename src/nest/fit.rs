//! Resources of a description that is not checked yet: whether its tiles nest, the stages that
//! shared memory holds, and whether a CTA fits a multiprocessor.

use crate::{
    arch::WARP,
    nest::{GemmDesc, Pins, SpillKind},
    shape::Mnk,
    threadblock::{
        MmaBase, Pipeline, WarpSpecialized,
        mainloop::{MOST_STAGES, is_too_narrow},
        mma::check::{
            LEAST_TILE, MOST_BLOCKS, MOST_REGISTERS, MOST_TILE, MOST_WARPS, registers_available,
        },
        tma_ring::shapes as tma_ring,
    },
    warp::{MmaSyncKnobs, SimtKnobs, WarpMma, WgmmaKnobs, wgmma::ROWS},
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

/// Returns whether a threadblock tile without a producer is in range.
const fn is_in_range(Mnk { m, n, k }: Mnk) -> bool {
    let [most_m, most_n, most_k] = MOST_TILE;
    let least = m >= LEAST_TILE && n >= LEAST_TILE && k >= LEAST_TILE;
    least && m <= most_m && n <= most_n && k <= most_k
}

/// Returns the stages of `stage` bytes that `available` bytes hold next to `beside` bytes, at most
/// `stages`. `None` if fewer than two of several stages fit.
const fn fitting_stages(stages: u32, stage: u32, beside: u32, available: u32) -> Option<u32> {
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
            && self.depths_may_fit(pins)
            && (pins.warp.is_none() || self.has_producer() || self.warp_may_fit())
            && (!asynchronous || self.arch.copies_asynchronously() && !self.copies_narrowly(pins))
    }

    /// Returns whether the pinned depths equal the depth of a stage, if the MMA prescribes one.
    const fn depths_may_fit(&self, pins: &Pins) -> bool {
        let WarpMma::Wgmma(_) = self.mma else { return true };
        let stage = WgmmaKnobs::depth(&self.multiplied());
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

    /// Returns whether a kernel without a producer can have the warp tile.
    const fn warp_may_fit(&self) -> bool {
        let warp = self.warp();
        let sums = self.output.accumulator.bytes_of(warp.m.saturating_mul(warp.n)) / (4 * WARP);
        let fits = matches!(self.limits.spills, SpillKind::Allowed) || sums < MOST_REGISTERS;
        fits && match self.mma {
            WarpMma::Simt(knobs) => knobs.check().is_ok(),
            WarpMma::MmaSync(_) => MmaSyncKnobs::check_warp(self).is_ok(),
            WarpMma::Wgmma(_) => true,
        }
    }

    /// Returns the bytes of the elements of one stage, as the kernel multiplies them.
    const fn bytes_of_stage(&self, tile: Mnk) -> u32 {
        let [a, b] = if self.has_producer() { self.multiplied().operands } else { self.operands };
        let of_a = a.stored.bytes_of(tile.m.saturating_mul(tile.k));
        of_a.saturating_add(b.stored.bytes_of(tile.n.saturating_mul(tile.k)))
    }

    /// Returns whether a kernel can have a threadblock tile, whatever its other free knobs: the
    /// tile is in range, shared memory holds one stage or the pinned ones, and a multiprocessor has
    /// the registers of the accumulators.
    pub(crate) const fn tile_may_fit(&self, pins: &Pins, tile: Mnk) -> bool {
        let (machine, blocks) = (self.arch.machine(), self.limits.blocks_per_sm);
        let in_range = match self.has_producer() {
            true => tile.m <= tma_ring::MOST_TILE && tile.n <= tma_ring::MOST_TILE,
            false => is_in_range(tile),
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
        let rows = match self.mma {
            WarpMma::Wgmma(knobs) => knobs.instruction.m == ROWS,
            _ => true,
        };
        rows && stage.saturating_mul(self.stages()) <= available
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
        let fit = if self.has_producer() {
            match WarpSpecialized::new(&self) {
                Ok(WarpSpecialized { ring, .. }) => self.stages_of_ring(&ring),
                Err(_) => None,
            }
        } else {
            self.stages_without_producer()
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
        if !self.has_producer() {
            if !self.nests_without_producer() {
                return None;
            }
            let desc = self.with_fitting_stages(pins);
            return if desc.fits_without_producer() { Some(desc) } else { None };
        }
        if !self.has_whole_vectors() {
            return None;
        }
        let ring = match self.mma {
            WarpMma::Wgmma(_) => WgmmaKnobs::ring(self),
            WarpMma::Simt(_) | WarpMma::MmaSync(_) => SimtKnobs::ring(self),
        };
        let Some(ring) = ring else { return None };
        let stages = match self.stages_of_ring(&ring) {
            Some(stages) => stages,
            None => return None,
        };
        if stages == self.stages() {
            return Some(*self);
        }
        match pins.stages {
            None => Some(self.pinned(Pins { stages: Some(stages), ..Pins::NONE })),
            Some(_) => None,
        }
    }

    /// Returns the stages of a ring that shared memory holds, at most those of the description.
    const fn stages_of_ring(&self, ring: &Pipeline) -> Option<u32> {
        let stages = self.stages();
        let beside = ring.shared_bytes().saturating_sub(stages.saturating_mul(ring.expect_bytes()));
        let available = self.arch.machine().shared_bytes_each_of(1);
        fitting_stages(stages, ring.expect_bytes(), beside, available)
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

    /// Returns whether the tiles of a CTA without a producer are in range and nest, and whether the
    /// architecture has the copies.
    const fn nests_without_producer(&self) -> bool {
        let (tile, warp) = (self.threadblock(), self.warp());
        if !is_in_range(tile) || !nests(tile, warp) {
            return false;
        }
        let warps = (tile.m / warp.m) * (tile.n / warp.n) * (tile.k / warp.k);
        let asynchronous = self.mainloop.copies_asynchronously();
        warps <= MOST_WARPS && (!asynchronous || self.arch.copies_asynchronously())
    }

    /// Returns whether a CTA without a producer fits, whose tiles nest: accesses divide tiles, and
    /// a multiprocessor has the threads, the registers, and the shared memory.
    const fn fits_without_producer(&self) -> bool {
        let (machine, asynchronous) = (self.arch.machine(), self.mainloop.copies_asynchronously());
        let base = self.base();
        let (threads, blocks) = (base.tiles.threads(), self.limits.blocks_per_sm);
        threads <= machine.threads_per_block
            && threads.saturating_mul(blocks) <= machine.threads_per_sm
            && base.smem_bytes() <= self.shared_bytes_available()
            && self.copies_fit(&base, asynchronous)
            && (matches!(self.limits.spills, SpillKind::Allowed)
                || base.registers()
                    <= registers_available(threads, blocks, machine.registers_per_sm))
    }

    /// Returns whether the accesses divide the tiles, and whether shared memory has the accesses of
    /// asynchronous copies and the blocks of swizzles in whole.
    const fn copies_fit(&self, base: &MmaBase, asynchronous: bool) -> bool {
        let mut i = 0;
        while i < 2 {
            let staged = &base.operands[i];
            let narrow = self.mainloop.is_too_narrow(staged.element, staged.access);
            let block = match 1u32.checked_shl(staged.smem.bits.saturating_add(staged.smem.base)) {
                Some(block) if staged.smem.bits > 0 => block,
                _ => 1,
            };
            if !staged.tile_contiguous().is_multiple_of(self.operands[i].access)
                || asynchronous && (narrow || staged.shared_access() < staged.access)
                || !staged.smem.row().is_multiple_of(block)
            {
                return false;
            }
            i += 1;
        }
        true
    }
}
