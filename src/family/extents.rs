//! What a description costs a problem, and into how many parts of K it is cut: time by a model of
//! the busiest multiprocessor, by which [`choose`](super::choose) compares.
//!
//! `--explain` shows what it is made of ([`Terms`]).
//!
//! A multiprocessor works on as many units at once as blocks fit on it, and on the rest in waves:
//!
//! ```text
//! cost  = depth * (load * each + waves * latency + alone) + ends(load) + exchange
//! load  = ceil(clusters / resident ones)    waves = ceil(load / resident blocks)     units: tiles of all products of a batch, times parts of K
//! depth = K, or of parts the longest one's  exchange = begun + load * stored + levels * added + slots * brought, of parts alone
//!                                           of a second kernel: launched + load * stored + levels * 0.25 us + slots / bytes
//!                                           of a cluster's: met + load * (parts * awaited + (parts - 1) * sent)
//! ```
//!
//! | | tensor cores of Hopper | CUDA cores |
//! |---|---|---|
//! | `each`, a step along K of one tile | `max(m n (1 + 5 (1/64 + 1/w)) / (1 + 5 (1/64 + 1/128)), 60 (m + n))` for instructions of 64 x w: products and their reads of shared memory, or what the second-level cache brings | `m n (1 + 16 (1/wm + 1/wn))` for warp tiles of wm x wn, of f32 `m n (1.25 + 8 (1/wm + 1/wn))`, twice that where copies and products take turns; `256 n / m` more for f32 where B lies along K, `24 n` at most, and `8 m` less where A lies along M, whose elements are copied four at a time; `1.1 m n + 3 (m + n)` for f64 under mma.sync (log `f64_few_tiles`), whose copies take `28 (m + n)` for f32 in parts |
//! | `latency`, a step along K that nobody else fills | 0: the blocks are persistent, one a multiprocessor | 2600 under `multistage`, 1600 for f64 on tensor cores, 9000 under `singlestage`, and 230,000 for each k-tile under `pipelined`: the barriers and the loads between them |
//! | `alone`, the same of a multiprocessor's only unit | 0 | 2600 of f32 in 64x64 and less, eight deep: a barrier for few products (log `short_tiles_simt`) |
//! | `ends`, begins and ends of tiles | `2900 m n` of a consumer's share, of 128 x 64 at least, once under ping-pong; where consumers share tiles `4700 m n` for a second one, and 300 for each behind it; of elements of 32 bits, whose products are half as many in a microsecond, half of all three | `16 m n (1 + s)` for each tile, whose depth `s` warps share |
//! | `begun`, clearing tickets and drawing them | 2.5 us | 1,200,000 |
//! | `stored`, a unit's accumulators to its slot | 0.15 us, and as much for each 32 that a thread holds; of `mma.sync` 0.3 us | `4900 a` for threads that hold `a` accumulators |
//! | `added`, [`PARTS_AT_ONCE`] parts, or as many sums of so many, and so on: a level each | 0.8 us, and 0.25 us for each round of loads | `37000 a`: the loads of a few accumulators at a time wait for the second-level cache |
//! | `brought`, a slot to who adds | a microsecond for 140 KB | 0 |
//! | `launched`, the second kernel of parallel split-K | 0.5 us, of `mma.sync` 1.5 us | 1.5 us |
//! | `bytes`, of all slots, which are written to the second-level cache and read again | 1.45 MB in a microsecond, since all blocks end at the same time; of `mma.sync` 3.6 MB | 3.6 MB in a microsecond |
//! | `met`, the barriers of a cluster whose blocks have the parts | 0.35 us | |
//! | `awaited`, one of them | 0.1 us | |
//! | `sent`, its accumulators to the first, which adds them | a microsecond for 45 KB | |
//!
//! A microsecond is 4.5 million products of 16 bits on Hopper's tensor cores, 9 million of 8, and
//! so on. There `load * each` is no less than what memory takes, too: 2 products for each element
//! of A and B, and 0.4 for each time that a tile reads one again, 0.55 where a cluster's blocks all
//! do at once (log `few_tiles_tensor_op`); and, of the busiest unit, 60 for each element that it
//! loads and 40 for each that no other unit brings
//! (`lab/data/trials.csv`, log `split_k_tensor_op`, `docs/performance/decode.jsonl`).
//!
//! Of streams, `load` and `waves` are no whole numbers: tiles by multiprocessors, since none waits
//! for another; the exchange is `begun`, and `stored` and `added` for the tile that a block ends
//! and the one that it begins. Of `f32` on an H100 that is within 7 hundredths of 20 times from
//! 1024 cubed on; fewer tiles than multiprocessors are cut into parts
//! (`lab/data/trials.csv`, log `streams_f32`).
//!
//! Threads that TMA feeds take `1.45 m n` a step and `44 m n` for each tile, and where an operand
//! lies otherwise a pass before: 2.5 us, and 2.8 ps for each element (the same file).
//!
//! Where rows of A, or of B, begin within sectors of 32 bytes, each line that TMA asks for is of
//! two, and what a block brings of that operand counts twice: 5000 cubed of 16 bits has 350 TFLOP/s
//! in tiles of 128x128 and 446 in 128x256 on an H100, which `120 (m + n)` says within a twentieth;
//! 15 products of 1000 cubed take 68 a line. Blocks of a cluster that share an operand bring their
//! share of it, and wait for one another, a sixteenth of their products: 633 in 256x160 of two
//! (`lab/data/trials.csv`, log `pitches_tensor_op`).
//!
//! Where memory is what limits, boxes of the only tile along an extent of which 64 rows and more
//! lie beyond their operand take a third longer: 64 rows of 16384x7168 take 78 to 94 us in every
//! tile of 128 rows, whatever its columns and schedule, and 58 to 66 in those of 64, in which 100
//! rows take 67 to 104 and 65 to 69 in those of 128 (log `few_rows_of_weights`).
//!
//! A multiprocessor that has no unit in the last wave does not ask for any, and memory takes longer
//! by 0.3 of their share: 64 rows of 24576x1536 take 23.3 us in 384 tiles of 64x64 and 24.9 in 192
//! of 64x128 (the same file).
//!
//! On CUDA cores two blocks of a multiprocessor end their first tiles at the same time, and both
//! their places are taken again while another multiprocessor's are not: three tiles on two places
//! take what four do. f32 of 1536x2816x256 takes 52 us in 264 tiles of 128x128, and 1536x4224x256
//! 97 in 396 (`lab/data/trials.csv`, log `waves_of_two_simt`). Parts, and tiles of a third
//! wave, end one after another.
//!
//! What D has beyond the 50 MB that the second-level cache keeps is written to device memory while
//! the products last, at the rate at which A and B come: 8 products of 4096x4096x512 of e4m3, 268
//! MB of D, take 135 us in 128x192, 147 in 128x128, 165 in 64x128 (log `tiles_in_graphs`).
//!
//! Of clusters of more than two blocks fewer run at once than there are multiprocessors for: 33 of
//! four count as two rounds, and 4104 cubed in 128x192 of four as seven.
//!
//! A cluster's parts are added in its first block's shared memory: no memset comes before the
//! kernel, and no slot is in memory. What a problem takes longer by is in the model what it
//! measured, 0.6 to 0.9 us for one tile a cluster in two parts, and of more up to 2 us, which
//! bandwidth may hide (`lab/data/trials.csv`, log `split_k_cluster`).
//!
//! Parts are as many as fill one block of each multiprocessor, or two, and so on up to all that are
//! resident; fewer, where K or the workspace has no more.
//!
//! The unit is one product. The numbers were fitted to times on an H200. On CUDA cores, 16, 2600
//! and 230,000 come from the problems and tiles of
//! `lab/data/trials.csv`, log `small_tiles_simt`: of bf16, 512 cubed takes 37.6 us in 64x64x16
//! and 56.2 in 64x64x8, 110 ns a step in place of 73; of f32, 64x64x32 takes 29.7 ns a step where
//! it is alone on a multiprocessor (512 cubed) and 50.3 ns for two of them (1024 cubed); and those
//! of parts from log `split_k_simt`, whose times the model has within 14 hundredths, at
//! 3.25 us for a million products and 2.6 us for a launch, but for tiles of 64 threads, which take
//! longer. On tensor cores, 60, 5 and 2900 are such that problems take what measured best of their
//! tiles in log `small_tiles_tensor_op`, log `hopper_tiles_*` and log `hopper_promoted`
//! there, from 256 to 16384 cubed: 2900 lies below 3330, above which 2048 cubed takes 64x128;
//! without the 5, 16384 cubed takes 128x128 in place of 128x192. 4700 and 300 are such that 2560,
//! 3456 and 5120 cubed, 15 products of 1000 cubed and 5000 x 4096 x 4096 take tiles that consumers
//! share, and 3072 cubed does not (log `cooperative_tiles`): a multiprocessor that is idle
//! between two tiles leaves the others its power. Where memory is what limits there is none to
//! leave, and each tile counts as the first: 32 groups of 192 rows take 468 us in 128x192 and 499
//! in 256x160.

use super::{features::Features, terms::Terms};
use crate::{
    arch::Machine,
    call::Partials,
    desc::{Cut, DecompositionKind, GemmDesc},
    family::ProblemSize,
    numeric::{ElementKind, MOST_PARTS},
    operand::Axis,
    shape::{Mnk, at_least_one},
};

/// Rows of a box beyond its operand from which on it takes longer than one that has none.
const MUCH_FILLED: u64 = 64;
/// By how much.
const FILLING: f64 = 4.0 / 3.0;

/// By how much longer memory takes, of the share of multiprocessors that have no unit in the last
/// wave: they do not ask for any.
const LAST_WAVE: f64 = 0.3;

impl GemmDesc {
    /// What the choice among descriptions compares, rounded: operands that are transposed first,
    /// and then time, in a unit that is the same for all descriptions of a problem.
    #[doc(hidden)]
    pub fn predicted(&self, size: &ProblemSize, machine: &Machine) -> (u32, u128) {
        let features = self.features();
        (features.transposed, self.terms(&features, size, machine).time().round() as u128)
    }

    /// What the time is made of that a problem should take, with copies before the kernel. `None`
    /// where the model has no time: of operands that are decomposed, whose kernel is nobody's
    /// choice, and of streams of so few tiles that parts of K are.
    #[doc(hidden)]
    pub fn predicted_terms(&self, size: &ProblemSize, machine: &Machine) -> Option<Terms> {
        let decomposed =
            self.warp_specialized().is_some_and(|desc| desc.knobs.emulation.decomposes());
        let terms = Terms {
            passes: self.time_of_passes(size),
            ..self.terms(&self.features(), size, machine)
        };
        (!decomposed && terms.time() < f64::MAX).then_some(terms)
    }

    fn terms(&self, features: &Features, size: &ProblemSize, machine: &Machine) -> Terms {
        self.weighed(features, size, machine)
            .stepping(|| self.rows_within_sectors(size))
            .terms(self.cut_of())
    }

    /// What the description costs, and as how many parts of K; as those that cost the least where K
    /// may be cut, in any of these ways. `None` where its products alone cost more than `most`.
    pub(super) fn cheapest_parts(
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
        let weighed = weighed.stepping(|| self.rows_within_sectors(size));
        let own = self.cut_of();
        let (mut least, mut best) = (weighed.terms(own).time(), own);
        let (extents, _) = self.extents(size);
        if weighed.streams
            && Partials::of(self, extents, size.batch).workspace_bytes() > size.workspace
        {
            least = f64::MAX;
        }
        if !ways.is_empty() {
            let most = (weighed.k_tiles as u64).min(MOST_PARTS.into());
            for blocks in 1..=u64::from(weighed.resident) {
                let parts = (blocks * u64::from(machine.multiprocessors) / weighed.tiles.max(1))
                    .min(most) as u32;
                if parts < 2 || parts == best.0 {
                    continue;
                }
                let (whole, load) = weighed.without_exchange(parts);
                let cost = |way| {
                    whole.time() + features.exchange.cost((parts, way), load, weighed.tiles as f64)
                };
                let partials = |way| Partials::of_parts(self, (parts, way), extents, size.batch);
                for &way in ways {
                    let cost = cost(way);
                    if cost < least && partials(way).workspace_bytes() <= size.workspace {
                        (least, best) = (cost, (parts, way));
                    }
                }
            }
        }
        Some(((features.transposed, least), best))
    }

    /// M and N, and K, of a problem as the kernel sees it.
    pub(super) fn extents(&self, size: &ProblemSize) -> ((usize, usize), usize) {
        let (m, n, k) = size.extents;
        let extent = |axis: Axis| match axis.leave(self.frame) {
            Axis::M => m,
            Axis::N => n,
            Axis::K => k,
        };
        ((extent(Axis::M), extent(Axis::N)), k)
    }

    /// What is known of a problem by the tiles that cover it. How its rows lie costs more to find
    /// than most descriptions are worth: [`Weighed::stepping`].
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
            output: m as f64 * n as f64 * batch as f64 * bits(self.class.output.element)
                / bits(self.class.a.element),
            filling: if filled(m, tile.m) || filled(n, tile.n) { FILLING } else { 1.0 },
            resident: features.resident(machine),
            by_cluster: self.cuts_by_cluster(),
            streams: self.streams_k(),
        }
    }
}

/// A problem as a description's kernel sees it: what its time is computed from, into however many
/// parts K is cut.
struct Weighed<'f> {
    features: &'f Features,
    machine: &'f Machine,
    tile: Mnk,
    /// Of a cluster.
    blocks: u32,
    /// That cover D, and their tiles.
    clusters: u64,
    tiles: u64,
    k: usize,
    k_tiles: usize,
    /// A step along K of one tile: its products alone, until it is known how rows lie.
    each: f64,
    /// Of A and B, of all products.
    elements: f64,
    /// Of D, of all products, as elements of A that are as many bytes.
    output: f64,
    /// By how much boxes that are half empty take longer.
    filling: f64,
    /// Blocks that share a multiprocessor.
    resident: u32,
    by_cluster: bool,
    streams: bool,
}

impl Weighed<'_> {
    /// The same with the time of a step where rows of A, and of B, begin within sectors or not.
    fn stepping(self, within: impl FnOnce() -> [bool; 2]) -> Self {
        Self { each: self.features.step(within), ..self }
    }

    /// Less than it costs, into however many parts K is cut: all products, on all multiprocessors
    /// alike, and one tile's begin and end.
    fn least(&self) -> f64 {
        let products = self.tiles as f64 * self.each * self.k as f64;
        products / f64::from(at_least_one(self.machine.multiprocessors)) + self.features.not_hidden
    }

    /// Times, in products, of so many parts of K.
    fn terms(&self, (parts, way): Cut) -> Terms {
        if self.streams {
            return self.terms_of_streams();
        }
        let (whole, load) = self.without_exchange(parts);
        Terms { parts: self.features.exchange.cost((parts, way), load, self.tiles as f64), ..whole }
    }

    /// The same but for what it takes to add the parts, and units of a multiprocessor.
    fn without_exchange(&self, parts: u32) -> (Terms, f64) {
        let features = self.features;
        let depth = match parts {
            0 | 1 => self.k as f64,
            _ => self.k_tiles.div_ceil(parts as usize) as f64 * f64::from(self.tile.k),
        };
        let units = self.tiles.saturating_mul(parts.into());
        let (blocks, clusters) = if self.by_cluster {
            (parts, self.clusters)
        } else {
            (self.blocks, self.clusters.saturating_mul(parts.into()))
        };
        let load = clusters.div_ceil(self.machine.resident_clusters(blocks).into());
        let (load, waves) = (load as f64, load.div_ceil(self.resident.into()) as f64);
        let waiting = waves * features.latency + if load > 1.0 { 0.0 } else { features.alone };
        // Two blocks of a multiprocessor end their first tiles at the same time, and both places
        // are taken again before another's are free; who stores parts ends at any time.
        let placed = if parts < 2 && waves == 2.0 && self.resident > 1 {
            (load / 2.0).ceil() * 2.0
        } else {
            load
        };
        let products = (placed * self.each + waiting) * depth;
        let memory = self.by_memory(depth, units as f64, load);
        (
            Terms {
                products,
                memory,
                ends: features.ends(load, memory > products),
                ..Terms::default()
            },
            load,
        )
    }

    /// What memory takes to bring A and B to so many units of such a depth.
    fn by_memory(&self, depth: f64, units: f64, load: f64) -> f64 {
        let Some(memory) = self.features.memory else { return 0.0 };
        let of_unit = depth * f64::from(self.tile.m.saturating_add(self.tile.n));
        let idle = load * f64::from(self.machine.multiprocessors) / units - 1.0;
        let last_wave = if load > 1.0 { 1.0 + LAST_WAVE * idle } else { 1.0 };
        memory.cost(self.elements, of_unit, units) * self.filling * last_wave
            + (self.output - memory.kept).max(0.0) * memory.first
    }

    /// Times of streams: no multiprocessor waits for another. Fewer tiles than multiprocessors are
    /// cut into parts instead.
    fn terms_of_streams(&self) -> Terms {
        let (features, multiprocessors) =
            (self.features, u64::from(at_least_one(self.machine.multiprocessors)));
        if self.tiles < multiprocessors {
            return Terms { products: f64::MAX, ..Terms::default() };
        }
        let load = self.tiles as f64 / multiprocessors as f64;
        let step = load * features.each + load / f64::from(self.resident) * features.latency;
        // Two tiles more have a begin and an end.
        let ends = features.ends(load + 2.0, false);
        Terms {
            products: step * self.k as f64,
            ends,
            parts: features.exchange.of_streams(),
            ..Terms::default()
        }
    }
}

#[cfg(test)]
#[path = "extents_tests.rs"]
mod tests;
