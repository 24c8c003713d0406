//! The cost of a TMA ring that does not depend on the MMA of its consumers.

use crate::{
    epilogue::partials::TOGETHER,
    nest::{
        GemmDesc,
        features::{Exchange, Features, Reduced, products_of_a_microsecond},
    },
    numeric::sum_of,
    schedule::ScheduleKind,
    shape::at_least_one,
};

/// Returns the elements of D that determine the time of a prologue and an epilogue. A smaller tile
/// takes as long as 128 x 64.
pub(crate) const fn prologue_elements(elements: u64) -> u64 {
    const LEAST: u64 = 128 * 64;
    if elements > LEAST { elements } else { LEAST }
}

impl GemmDesc {
    /// Returns the elements of D per consumer. Consumers that share a tile run its prologue and
    /// epilogue concurrently.
    pub(crate) const fn elements_per_consumer(&self) -> u64 {
        let tile = self.threadblock();
        tile.m as u64 * tile.n as u64 / at_least_one(self.sharing()) as u64
    }

    /// Returns the facts of a kernel whose threads store D. `each` is the time per k of one tile.
    pub(crate) const fn features_of_threads(&self, each: f64, exchange: Exchange) -> Features {
        // A prologue and epilogue, for any thread tile.
        const OF_THREADS: u64 = 44;
        let share = self.elements_per_consumer();
        let pingpong = matches!(self.schedule(), ScheduleKind::Pingpong);
        Features {
            lines: None,
            transposed: 0,
            each,
            latency: 0.0,
            alone: 0.0,
            block: None,
            not_hidden: (OF_THREADS * prologue_elements(share)) as f64,
            further: [if pingpong { 0.0 } else { (OF_THREADS * share) as f64 }; 2],
            memory: None,
            exchange,
        }
    }

    /// Returns the times of the reduction. The constants are in hundredths of a microsecond. Rounds
    /// of loads wait for the L2 cache.
    pub(crate) const fn slice_exchange(&self) -> Exchange {
        const BEGUN: f64 = 250.0;
        const STORED: f64 = 15.0;
        const COUNTED: f64 = 80.0;
        const ROUND: f64 = 25.0;
        // Bytes per microsecond that a multiprocessor loads from the L2 cache.
        const BYTES: f64 = 140_000.0;
        // With the reduction kernel, all CTAs load their slices at the same time.
        const APART: (f64, f64) = (0.5, 1_450_000.0);
        // With a cluster: its barriers, the wait for each CTA of a tile, and the bytes per
        // microsecond that its first CTA receives.
        const MET: f64 = 35.0;
        const AWAITED: f64 = 10.0;
        const SENT: f64 = 45_000.0;
        let Some(components) = self.components() else { return Exchange::NONE };
        let products = products_of_a_microsecond(self.op(), self.multiplied().operands[0].stored)
            as f64
            / 100.0;
        let tile = self.threadblock();
        let slot = sum_of(self.output.accumulator).bytes_of(tile.m.saturating_mul(tile.n)) as f64;
        let moved = slot * 100.0 * products;
        if self.cuts_by_cluster() {
            return Exchange::Cluster {
                met: MET * products,
                awaited: AWAITED * products,
                sent: moved / SENT,
            };
        }
        let rounds = match components.vectors_ahead() {
            // No registers remain to load partials ahead. The kernel supports split-K, but the
            // model excludes it.
            0 => return Exchange::NEVER,
            vectors => components.numbers().div_ceil(TOGETHER * vectors),
        };
        let added = (COUNTED + ROUND * rounds as f64) * products;
        let apart = if self.may_reduce() {
            Reduced::new(slot as u64, APART, 100.0 * products)
        } else {
            Reduced::NONE
        };
        Exchange::Workspace {
            begun: BEGUN * products,
            stored: (STORED + STORED / 32.0 * components.numbers() as f64) * products,
            added,
            brought: moved / BYTES,
            apart,
        }
    }
}
