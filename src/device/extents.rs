//! Which of a row's configurations a problem takes: the one that should take the least time, by a model of kernels whose blocks stay.
//!
//! Blocks that stay take tiles in waves, one tile a multiprocessor. The last wave is rarely full, and how full it is depends on
//! the tile; an instruction of 64 x `n` reads `1/64 + 1/n` elements of shared memory a product, and waits for power that this takes;
//! and what is not hidden behind products, at the first tile's beginning and the last one's end, grows with the tile, not with K:
//!
//! ```text
//! cost = tile_m * tile_n * (waves * K * (1 + 16 (1/64 + 1/n)) / (1 + 16 (1/64 + 1/128)) + 6000)        waves = ceil(tiles / multiprocessors)
//! ```
//!
//! The two numbers are those with which 128x128, 128x176 and 128x192 are chosen as measured, for all types, in
//! `docs/performance/explore/hopper_tiles_*.jsonl`: 4096 x 2112 on 132 multiprocessors is 5 waves of 128x128, 3 of 128x192 and 3 of
//! 128x176, and takes 0.83 to 0.88 of the first's time with the second, 0.77 to 0.82 with the third.

use crate::{
    arch::Machine,
    desc::{GemmDesc, Knobs},
};

/// How much of a product's time goes by reads of shared memory.
const READS: u128 = 16;
/// Steps along K that take as long as what is not hidden.
const NOT_HIDDEN: u128 = 6000;
/// One, in the fixed point of the sums.
const WHOLE: u128 = 1 << 20;

impl GemmDesc {
    /// This description, or the same with the knobs of one of `others`, which the problem of (m, n, k), rows and columns of D as the user
    /// has them, costs less with on `machine`. Of equals, the first. What is no kernel there does not count.
    #[must_use]
    pub fn for_extents(&self, others: &[Knobs], extents: (usize, usize, usize), machine: &Machine) -> Self {
        let others = others.iter().map(|knobs| self.with_knobs(Knobs { epilogue: self.epilogue, ..*knobs }));
        let legal = others.filter(|other| other.check_on(machine).is_ok());
        std::iter::once(*self).chain(legal).min_by_key(|desc| desc.cost(extents, machine)).unwrap_or(*self)
    }

    /// Time, in a unit that is the same for all descriptions of a problem.
    fn cost(&self, (m, n, k): (usize, usize, usize), machine: &Machine) -> u128 {
        let (m, n) = if self.exchanged { (n, m) } else { (m, n) };
        let tile = self.threadblock;
        let tiles = m.div_ceil(tile.m.max(1) as usize) as u128 * n.div_ceil(tile.n.max(1) as usize) as u128;
        let waves = tiles.div_ceil(u128::from(machine.multiprocessors.max(1)));
        let product = |n: u32| WHOLE + READS * (WHOLE / 64 + WHOLE / u128::from(n.max(1)));
        // Of extents beyond 64 bits the largest number is the cost.
        let time = waves.saturating_mul(k as u128).saturating_mul(product(self.instruction.n));
        (u128::from(tile.m) * u128::from(tile.n)).saturating_mul(time.saturating_add(NOT_HIDDEN * product(128)))
    }
}
