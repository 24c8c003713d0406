//! Which of a row's configurations a problem takes: the one whose waves compute the fewest elements of D.
//!
//! Blocks that stay take tiles in waves, one tile a multiprocessor. The last wave is rarely full, and how full it is depends on
//! the tile:
//!
//! ```text
//! cost = waves * tile_m * tile_n        waves = ceil(tiles / multiprocessors)
//! ```
//!
//! 4096 x 2112 on 132 multiprocessors: 128x128 is 544 tiles in 5 waves, 81920 elements for each multiprocessor; 128x192 is 352
//! tiles in 3 waves, 73728. Measured, the second takes 0.88 of the time of the first (`docs/performance/hopper.md`).

use crate::{
    arch::Machine,
    desc::{GemmDesc, Knobs},
};

impl GemmDesc {
    /// This description, or the same with the knobs of one of `others`, which the problem's rows and columns of D, as the user has
    /// them, cost less on `machine`. Of equals, the first. What is no kernel there does not count.
    #[must_use]
    pub fn for_extents(&self, others: &[Knobs], (m, n): (usize, usize), machine: &Machine) -> Self {
        let others = others.iter().map(|knobs| self.with_knobs(Knobs { epilogue: self.epilogue, ..*knobs }));
        let legal = others.filter(|other| other.check_on(machine).is_ok());
        std::iter::once(*self).chain(legal).min_by_key(|desc| desc.cost((m, n), machine)).unwrap_or(*self)
    }

    /// Elements of D, with those beyond it, that a multiprocessor computes.
    fn cost(&self, (m, n): (usize, usize), machine: &Machine) -> u128 {
        let (m, n) = if self.exchanged { (n, m) } else { (m, n) };
        let tile = self.threadblock;
        let tiles = m.div_ceil(tile.m.max(1) as usize) as u128 * n.div_ceil(tile.n.max(1) as usize) as u128;
        tiles.div_ceil(u128::from(machine.multiprocessors.max(1))) * u128::from(tile.m) * u128::from(tile.n)
    }
}
