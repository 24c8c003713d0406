//! The cost of consumers of a TMA ring on Hopper's tensor cores.

use crate::{
    nest::{
        GemmDesc,
        features::{Bandwidth, Exchange, Features, Lines},
    },
    schedule::ScheduleKind,
    shape::at_least_one,
    threadblock::tma_ring::cost::prologue_elements,
    warp::WgmmaKnobs,
};

impl WgmmaKnobs {
    /// Returns the facts for the cost model. `src/nest/cost_model.rs` explains the constants.
    pub(crate) const fn consumer_features(d: &GemmDesc, exchange: Exchange) -> Features {
        const LOADS: u64 = 60;
        const OF_LINES: u64 = 68;
        const NOT_HIDDEN: u64 = 2900;
        // A second tile that consumers share. Further prologues and epilogues leave their power to
        // multiply-adds, so they cost less.
        const SECOND: u64 = 4700;
        const FURTHER: u64 = 300;
        let (m, n) = (d.threadblock().m as u64, d.threadblock().n as u64);
        // Relative to an instruction of 64 x 128. Wider instructions spend less time on
        // shared-memory reads.
        let wide = at_least_one(d.instruction().n) as u64;
        let cluster = d.mainloop.cluster();
        let [rows, columns] = [at_least_one(cluster.m) as u64, at_least_one(cluster.n) as u64];
        let (alone, loads) = (m * n * (138 * wide + 640) / (143 * wide), LOADS * (m + n));
        let bits = d.operands[0].stored.bits();
        // For 32 bits, a prologue and epilogue take as long as for 16, so they count as half as
        // many multiply-adds.
        let fewer = if bits > 16 { 2 } else { 1 };
        let memory = Bandwidth {
            first: 2.0,
            own: LOADS as f64,
            longer: 40.0,
            // With split-K in a cluster, the CTAs reread elements at the same time.
            again: if d.cuts_by_cluster() { 0.55 } else { 0.4 },
            kept: 50e6 * 8.0 / bits as f64,
        };
        // CTAs of a cluster wait for each other.
        let products = if rows * columns > 1 { alone * 17 / 16 } else { alone };
        let share = d.elements_per_consumer();
        Features {
            lines: Some(Lines {
                products: products as f64,
                loads: [(OF_LINES * m / columns) as f64, (OF_LINES * n / rows) as f64],
            }),
            transposed: d.transposed(),
            each: (if products > loads { products } else { loads }) as f64,
            latency: 0.0,
            alone: 0.0,
            block: None,
            not_hidden: (NOT_HIDDEN / fewer * prologue_elements(share)) as f64,
            further: match d.schedule() {
                ScheduleKind::Pingpong => [0.0; 2],
                ScheduleKind::Cooperative => {
                    [(SECOND / fewer * share) as f64, (FURTHER / fewer * share) as f64]
                }
            },
            memory: Some(memory),
            exchange,
        }
    }
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
