//! The cost model: the predicted time of a problem with a description, and the number of split-K
//! slices. [`choose`](crate::nest::choose) compares these times, and `--explain` shows the terms of
//! a [`PredictedTime`]. Logs are the files that `git ls-tree e863db3:./docs/performance/explore/`
//! lists.
//!
//! The model follows the busiest multiprocessor. It computes as many units at once as CTAs fit, and
//! the other units in waves:
//!
//! ```text
//! cost     = depth * (load * each + waves * latency + alone) + ends(load) + exchange
//! load     = ceil(clusters / resident clusters)    waves = ceil(load / resident CTAs)
//! units    = tiles of all GEMMs of a batch, times split-K slices
//! depth    = K, or the K of the longest split-K slice
//! exchange = 0                                                            without split-K
//!            begun + load * stored + levels * added + slots * brought     the last CTA reduces
//!            launched + load * stored + levels * 0.25 us + slots / bytes  a second kernel reduces
//!            met + load * (slices * awaited + (slices - 1) * sent)        a cluster reduces
//! ```
//!
//! | | tensor cores of Hopper | CUDA cores |
//! |---|---|---|
//! | `each`: time per k of one tile | `max(m n (1 + 5 (1/64 + 1/w)) / (1 + 5 (1/64 + 1/128)), 60 (m + n))` for instructions of 64 x w: multiply-adds and their shared-memory reads, or loads from the L2 cache | `m n (1 + 16 (1/wm + 1/wn))` for warp tiles of wm x wn. For f32 `m n (1.25 + 8 (1/wm + 1/wn))`. Doubled if copies and multiply-adds do not overlap. For f32 with a K-major B, `256 n / m` more, `24 n` at most. For f32 with an M-major A, whose elements are copied four at a time, `8 m` less. For f64 with mma.sync, `1.1 m n + 3 (m + n)` (log `f64_few_tiles`). For emulated f32 with mma.sync, copies need `28 (m + n)` |
//! | `latency`: time per k that no other resident CTA hides | 0: CTAs are persistent, one per multiprocessor | Barriers and the loads between them: 2600 for `multistage`, 1600 for f64 on tensor cores, 9000 for `singlestage`, and 230,000 per k-tile for `pipelined` |
//! | `alone`: additional latency if a multiprocessor has only one unit | 0 | 2600 for f32 in tiles of at most 64x64 that are eight deep: a barrier for few multiply-adds (log `short_tiles_simt`) |
//! | `ends`: prologues and epilogues of tiles | `2900 m n` of a consumer's share, at least of 128 x 64, once with ping-pong. If consumers share tiles, `4700 m n` for a second tile and `300 m n` for each further tile. Half of all three for elements of 32 bits, which have half as many multiply-adds per microsecond | `16 m n (1 + s)` per tile whose depth `s` warps share |
//! | `begun`: clear and draw tickets | 2.5 us | 1,200,000 |
//! | `stored`: store a unit's accumulators to its slot | 0.15 us, and 0.15 us for each 32 accumulators per thread; for `mma.sync` 0.3 us | `4900 a` for `a` accumulators per thread |
//! | `added`: a level of the reduction, which adds [`SLICES_AT_ONCE`] slices or sums | 0.8 us, and 0.25 us for each round of loads | `37000 a`: loads of a few accumulators at a time wait for the L2 cache |
//! | `brought`: load a slot into the CTA that reduces | a microsecond per 140 KB | 0 |
//! | `launched`: the second kernel of parallel split-K | 0.5 us; for `mma.sync` 1.5 us | 1.5 us |
//! | `bytes`: rate of all slots, which are written to the L2 cache and read back | 1.45 MB per microsecond, because all CTAs end at the same time; for `mma.sync` 3.6 MB | 3.6 MB per microsecond |
//! | `met`: barriers of a cluster that computes the slices | 0.35 us | |
//! | `awaited`: wait for one CTA of the cluster | 0.1 us | |
//! | `sent`: send its accumulators to the first CTA, which adds them | a microsecond per 45 KB | |
//!
//! [`SLICES_AT_ONCE`]: crate::threadblock::SLICES_AT_ONCE
//!
//! # Unit
//!
//! The unit of time is one multiply-add of a multiprocessor. On Hopper's tensor cores, a
//! microsecond is 4.5 million multiply-adds of 16 bits, 9 million of 8 bits, and so on.
//!
//! # Memory
//!
//! On Hopper's tensor cores, `load * each` is at least the memory time: 2 for each element of A and
//! B, and 0.4 for each time that a tile rereads an element. Rereads cost 0.55 if all CTAs of a
//! cluster load at once (log `few_tiles_tensor_op`). The busiest unit needs at least 60 for each
//! element that it loads, and 40 for each element that no other unit loads (`lab/data/trials.csv`,
//! log `split_k_tensor_op`, `docs/performance/decode.jsonl`).
//!
//! If rows of A or B begin within sectors of 32 bytes, each line that TMA requests spans two lines.
//! The loads of that operand then count twice. On an H100, 5000 cubed of 16 bits reaches 350
//! TFLOP/s with tiles of 128x128 and 446 TFLOP/s with 128x256; `120 (m + n)` predicts both within
//! 5%. 15 GEMMs of 1000 cubed need 68 per line. CTAs of a cluster that share an operand load shares
//! of it, and wait for each other for a sixteenth of their multiply-adds. 256x160 in clusters of
//! two reaches 633 TFLOP/s (`lab/data/trials.csv`, log `pitches_tensor_op`).
//!
//! If memory limits, a tile that extends 64 rows or more beyond its operand loads a third longer.
//! This applies to the only tile along an extent. M = 64, N = 16384, K = 7168 takes 78 to 94 us
//! with any tile of 128 rows, and 58 to 66 us with tiles of 64 rows. M = 100 takes 67 to 104 us
//! with tiles of 64 rows, and 65 to 69 us with 128 rows (log `few_rows_of_weights`).
//!
//! Multiprocessors without a unit in the last wave request no data. Memory time grows by 0.3 of
//! their share: M = 64, N = 24576, K = 1536 takes 23.3 us in 384 tiles of 64x64, and 24.9 us in 192
//! tiles of 64x128 (the same log).
//!
//! The L2 cache holds 50 MB of D. The rest is written to device memory during the main loop, at the
//! rate at which A and B load. 8 GEMMs of 4096x4096x512 of e4m3, with 268 MB of D, take 135 us in
//! 128x192, 147 us in 128x128, and 165 us in 64x128 (log `tiles_in_graphs`).
//!
//! # Waves
//!
//! On CUDA cores, the two CTAs of a multiprocessor finish their first tiles at the same time. New
//! CTAs take both slots before slots of other multiprocessors are free. Three tiles on two slots
//! therefore take as long as four. f32 of 1536x2816x256 takes 52 us in 264 tiles of 128x128, and
//! 1536x4224x256 takes 97 us in 396 tiles (`lab/data/trials.csv`, log `waves_of_two_simt`). Split-K
//! slices and tiles of a third wave finish at different times.
//!
//! Fewer clusters of more than two CTAs run at once than the number of multiprocessors suggests. 33
//! clusters of four count as two waves, and 4104 cubed in 128x192 with clusters of four as seven.
//!
//! # Stream-K
//!
//! With stream-K, `load` and `waves` are fractional, tiles per multiprocessor, because no
//! multiprocessor waits for another. The exchange is `begun`, plus `stored` and `added` for the
//! tile that a CTA completes and for the tile that it begins. For `f32` on an H100, the prediction
//! is within 7% of 20 measured times from 1024 cubed on. If there are fewer tiles than
//! multiprocessors, split-K is used instead (`lab/data/trials.csv`, log `streams_f32`).
//!
//! # TMA-fed SIMT kernels
//!
//! TMA-fed SIMT kernels take `1.45 m n` per k and `44 m n` per tile. If an operand must be
//! transposed, the pass takes 2.5 us and 2.8 ps per element (the same log).
//!
//! # Split-K
//!
//! The candidate numbers of slices fill one CTA of each multiprocessor, two, and so on up to all
//! resident CTAs. K and the workspace limit them.
//!
//! A cluster's slices are reduced in the shared memory of its first CTA. No memset precedes the
//! kernel, and no slot is in the workspace. The model uses the measured additional time: 0.6 to 0.9
//! us for one tile per cluster in two slices, and up to 2 us for more slices, which bandwidth may
//! hide (`lab/data/trials.csv`, log `split_k_cluster`).
//!
//! # Fit
//!
//! The constants are fitted to times on an H200.
//!
//! On CUDA cores, 16, 2600, and 230,000 come from the problems and tiles of `lab/data/trials.csv`,
//! log `small_tiles_simt`. For bf16, 512 cubed takes 37.6 us in 64x64x16 and 56.2 us in 64x64x8, or
//! 110 ns per k instead of 73 ns. For f32, 64x64x32 takes 29.7 ns per k if it is alone on a
//! multiprocessor (512 cubed), and 50.3 ns for two of them (1024 cubed). The constants of split-K
//! come from log `split_k_simt`. The model predicts its times within 14%, at 3.25 us per million
//! multiply-adds and 2.6 us per launch. Tiles of 64 threads are an exception and take longer.
//!
//! On tensor cores, 60, 5, and 2900 make problems from 256 to 16384 cubed select the fastest
//! measured tile in log `small_tiles_tensor_op`, log `hopper_tiles_*`, and log `hopper_promoted` of
//! the same file. 2900 is below 3330, above which 2048 cubed selects 64x128. Without the 5, 16384
//! cubed selects 128x128 instead of 128x192.
//!
//! 4700 and 300 make 2560, 3456, and 5120 cubed, 15 GEMMs of 1000 cubed, and 5000 x 4096 x 4096
//! select tiles that consumers share. 3072 cubed does not (log `cooperative_tiles`). A
//! multiprocessor that is idle between two tiles leaves power to the others. If memory limits,
//! there is no power to leave, and each tile counts as the first: 32 groups of 192 rows take 468 us
//! in 128x192 and 499 us in 256x160.

use crate::{
    arch::Machine,
    nest::{
        Cut, DecompositionKind, GemmDesc, ProblemSize, features::Features,
        predicted_time::PredictedTime,
    },
    numeric::{ElementKind, MOST_SLICES},
    shape::{Axis, Mnk, at_least_one},
    threadblock::Partials,
};

/// Rows of a box beyond its operand from which the box loads measurably slower.
const MUCH_FILLED: u64 = 64;
/// Factor by which such a box loads slower.
const FILLING: f64 = 4.0 / 3.0;

/// Growth of memory time per share of multiprocessors without a unit in the last wave, which
/// request no data.
const LAST_WAVE: f64 = 0.3;

impl GemmDesc {
    /// Returns the predicted time without copies before the kernel.
    pub(crate) fn kernel_time(
        &self,
        features: &Features,
        size: &ProblemSize,
        machine: &Machine,
    ) -> PredictedTime {
        self.weighed(features, size, machine)
            .stepping(|| self.slower_lines(size))
            .time(self.cut_of())
    }

    /// Returns the cost of the description, with the best number of split-K slices among `ways`.
    /// `None` if its lower bound exceeds `most`.
    pub(crate) fn cheapest_cut(
        &self,
        features: &Features,
        ways: &[DecompositionKind],
        size: &ProblemSize,
        machine: &Machine,
        most: f64,
    ) -> Option<((u32, f64), Cut)> {
        let weighed = self.weighed(features, size, machine);
        if weighed.least() > most {
            return None;
        }
        let weighed = weighed.stepping(|| self.slower_lines(size));
        let own = self.cut_of();
        let (mut least, mut best) = (weighed.time(own).total(), own);
        let (extents, _) = self.extents(size);
        if weighed.streams
            && Partials::new(self, extents, size.batch).workspace_bytes() > size.workspace
        {
            least = f64::MAX;
        }
        if !ways.is_empty() {
            let most = (weighed.k_tiles as u64).min(MOST_SLICES.into());
            for blocks in 1..=u64::from(weighed.resident) {
                let slices = (blocks * u64::from(machine.multiprocessors) / weighed.tiles.max(1))
                    .min(most) as u32;
                if slices < 2 || slices == best.0 {
                    continue;
                }
                let (whole, load) = weighed.without_exchange(slices);
                let cost = |way| {
                    whole.total()
                        + features.exchange.cost((slices, way), load, weighed.tiles as f64)
                };
                let partials = |way| Partials::for_slices(self, (slices, way), extents, size.batch);
                for &way in ways {
                    let cost = cost(way);
                    if cost < least && partials(way).workspace_bytes() <= size.workspace {
                        (least, best) = (cost, (slices, way));
                    }
                }
            }
        }
        Some(((features.transposed, least), best))
    }

    /// Returns M and N, and K, of a problem in the kernel's frame.
    pub(crate) fn extents(&self, size: &ProblemSize) -> ((usize, usize), usize) {
        let (m, n, k) = size.extents;
        let extent = |axis: Axis| match axis.leave(self.frame) {
            Axis::M => m,
            Axis::N => n,
            Axis::K => k,
        };
        ((extent(Axis::M), extent(Axis::N)), k)
    }

    /// Returns the facts of a problem that follow from its tiles. [`Weighed::stepping`] adds the
    /// alignment of rows, which costs more to compute than most candidates justify.
    fn weighed<'f>(
        &self,
        features: &'f Features,
        size: &ProblemSize,
        machine: &'f Machine,
    ) -> Weighed<'f> {
        let ((m, n), k) = self.extents(size);
        let (tile, cluster, batch) = (self.threadblock(), self.cluster(), size.batch as u64);
        let rectangle = Mnk {
            m: tile.m.saturating_mul(cluster.m),
            n: tile.n.saturating_mul(cluster.n),
            k: tile.k,
        };
        let clusters = rectangle.tiles_of((m, n)).saturating_mul(batch);
        let bits = |element: ElementKind| f64::from(element.bits());
        let filled =
            |extent: usize, tile: u32| (extent as u64).saturating_add(MUCH_FILLED) <= tile.into();
        Weighed {
            features,
            machine,
            tile,
            blocks: cluster.count(),
            clusters,
            tiles: clusters.saturating_mul(cluster.count().into()),
            k,
            k_tiles: k.div_ceil(at_least_one(tile.k) as usize),
            each: features.products(),
            elements: (m as f64 + n as f64) * k as f64 * batch as f64,
            output: m as f64 * n as f64 * batch as f64 * bits(self.output.element)
                / bits(self.operands[0].stored),
            filling: if filled(m, tile.m) || filled(n, tile.n) { FILLING } else { 1.0 },
            resident: features.resident(machine),
            by_cluster: self.cuts_by_cluster(),
            streams: self.streams_k(),
        }
    }
}

/// A problem with a description's kernel: the inputs of its predicted time, for any number of
/// split-K slices.
struct Weighed<'f> {
    features: &'f Features,
    machine: &'f Machine,
    tile: Mnk,
    /// CTAs per cluster.
    blocks: u32,
    /// Clusters that cover D, and their tiles.
    clusters: u64,
    tiles: u64,
    k: usize,
    k_tiles: usize,
    /// Time per k of one tile. It includes only multiply-adds until the alignment of rows is known.
    each: f64,
    /// Elements of A and B, for all GEMMs.
    elements: f64,
    /// Elements of D, for all GEMMs, scaled by its element size relative to A's.
    output: f64,
    /// Factor by which partially filled boxes load slower.
    filling: f64,
    /// CTAs that share a multiprocessor.
    resident: u32,
    by_cluster: bool,
    streams: bool,
}

impl Weighed<'_> {
    /// Returns the problem with the time per k for the alignment of rows of A, and of B.
    fn stepping(self, slower: impl FnOnce() -> [f64; 2]) -> Self {
        Self { each: self.features.step(slower), ..self }
    }

    /// Returns a lower bound of the cost for any number of slices: all multiply-adds, distributed
    /// evenly over the multiprocessors, and the prologue and epilogue of one tile.
    fn least(&self) -> f64 {
        let products = self.tiles as f64 * self.each * self.k as f64;
        products / f64::from(at_least_one(self.machine.multiprocessors)) + self.features.not_hidden
    }

    /// Returns the predicted time, in multiply-adds, for a number of slices and a decomposition.
    fn time(&self, (slices, way): Cut) -> PredictedTime {
        if self.streams {
            return self.stream_k_time();
        }
        let (whole, load) = self.without_exchange(slices);
        PredictedTime {
            reduction: self.features.exchange.cost((slices, way), load, self.tiles as f64),
            ..whole
        }
    }

    /// Returns the time without the reduction of the slices, and the units per multiprocessor.
    fn without_exchange(&self, slices: u32) -> (PredictedTime, f64) {
        let features = self.features;
        let depth = match slices {
            0 | 1 => self.k as f64,
            _ => self.k_tiles.div_ceil(slices as usize) as f64 * f64::from(self.tile.k),
        };
        let units = self.tiles.saturating_mul(slices.into());
        let (blocks, clusters) = if self.by_cluster {
            (slices, self.clusters)
        } else {
            (self.blocks, self.clusters.saturating_mul(slices.into()))
        };
        let load = clusters.div_ceil(self.machine.resident_clusters(blocks).into());
        let (load, waves) = (load as f64, load.div_ceil(self.resident.into()) as f64);
        let waiting = waves * features.latency + if load > 1.0 { 0.0 } else { features.alone };
        // Two CTAs of a multiprocessor finish their first tiles at the same time, and new CTAs take
        // both slots before other slots are free. CTAs that store split-K partials finish at
        // different times.
        let placed = if slices < 2 && waves == 2.0 && self.resident > 1 {
            (load / 2.0).ceil() * 2.0
        } else {
            load
        };
        let products = (placed * self.each + waiting) * depth;
        let memory = self.by_memory(depth, units as f64, load);
        (
            PredictedTime {
                products,
                memory,
                ends: features.ends(load, memory > products),
                ..PredictedTime::default()
            },
            load,
        )
    }

    /// Returns the time to load A and B for `units` units with a K extent of `depth`.
    fn by_memory(&self, depth: f64, units: f64, load: f64) -> f64 {
        let Some(memory) = self.features.memory else { return 0.0 };
        let of_unit = depth * f64::from(self.tile.m.saturating_add(self.tile.n));
        let idle = load * f64::from(self.machine.multiprocessors) / units - 1.0;
        let last_wave = if load > 1.0 { 1.0 + LAST_WAVE * idle } else { 1.0 };
        memory.cost(self.elements, of_unit, units) * self.filling * last_wave
            + (self.output - memory.kept).max(0.0) * memory.first
    }

    /// Returns the predicted time with stream-K, in which no multiprocessor waits for another. If
    /// there are fewer tiles than multiprocessors, split-K is used instead.
    fn stream_k_time(&self) -> PredictedTime {
        let (features, multiprocessors) =
            (self.features, u64::from(at_least_one(self.machine.multiprocessors)));
        if self.tiles < multiprocessors {
            return PredictedTime { products: f64::MAX, ..PredictedTime::default() };
        }
        let load = self.tiles as f64 / multiprocessors as f64;
        let step = load * features.each + load / f64::from(self.resident) * features.latency;
        // Two more tiles have a prologue and an epilogue.
        let ends = features.ends(load + 2.0, false);
        PredictedTime {
            products: step * self.k as f64,
            ends,
            reduction: features.exchange.stream_k_time(),
            ..PredictedTime::default()
        }
    }
}

#[cfg(test)]
#[path = "cost_model_tests.rs"]
mod tests;
