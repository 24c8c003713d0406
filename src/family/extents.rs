//! What a description costs a problem, and into how many parts of K it is cut: time by a model of the busiest multiprocessor, by which [`choose`](super::choose) compares.
//!
//! A multiprocessor works on as many units at once as blocks fit on it, and on the rest in waves:
//!
//! ```text
//! cost  = depth * (load * each + waves * latency) + exposed * hidden_by_nothing + exchange
//! load  = ceil(clusters / resident ones)    waves = ceil(load / resident blocks)     units: tiles of all products of a batch, times parts of K
//! depth = K, or of parts the longest one's  exchange = begun + load * stored + levels * added + slots * brought, of parts alone
//!                                           of a cluster's: met + load * (parts * awaited + (parts - 1) * sent)
//! ```
//!
//! | | tensor cores of Hopper | CUDA cores |
//! |---|---|---|
//! | `each`, a step along K of one tile | `max(m n (1 + 5 (1/64 + 1/w)) / (1 + 5 (1/64 + 1/128)), 60 (m + n))` for instructions of 64 x w: products and their reads of shared memory, or what the second-level cache brings | `m n (1 + 16 (1/wm + 1/wn))` for warp tiles of wm x wn, twice that where copies and products take turns; `28 (m + n)` more for copies under mma.sync, whose products take less (`f64_tensor_op.jsonl`) |
//! | `latency`, a step along K that nobody else fills | 0: the blocks are persistent, one a multiprocessor | 2600 under `multistage`, else 9000: the barriers and the loads between them |
//! | `hidden_by_nothing` | `2900 m n` of a consumer's share, of 128 x 64 at least, once under ping-pong, else for each tile | `32 m n` for each tile |
//! | `begun`, clearing tickets and drawing them | 2.5 us | 1,200,000 |
//! | `stored`, a unit's accumulators to its slot | 0.3 us | `4900 a` for threads that hold `a` accumulators |
//! | `added`, [`PARTS_AT_ONCE`] parts, or as many sums of so many, and so on: a level each | 0.8 us, and 0.25 us for each round of loads | `37000 a`: the loads of a few accumulators at a time wait for the second-level cache |
//! | `brought`, a slot to who adds | a microsecond for 140 KB | 0 |
//! | `met`, the barriers of a cluster whose blocks have the parts | 0.35 us | |
//! | `awaited`, one of them | 0.1 us | |
//! | `sent`, its accumulators to the first, which adds them | a microsecond for 45 KB | |
//!
//! A microsecond is 4.5 million products of 16 bits on Hopper's tensor cores, 9 million of 8, and so on. There `load * each` is no less than what memory takes, too: 2 products for each element of A and B, and 0.4 for each time that a tile reads one again, 0.55 where a cluster's blocks all do at once (`few_tiles_tensor_op.jsonl`); and, of
//! the busiest unit, 60 for each element that it loads and 40 for each that no other unit brings (`docs/performance/explore/split_k_tensor_op.jsonl`, `docs/performance/decode.jsonl`).
//!
//! Where rows of A, or of B, begin within sectors of 32 bytes, each line that TMA asks for is of two, and what a block brings of that operand counts twice: 5000 cubed of 16 bits has 350 TFLOP/s in tiles of 128x128 and 446 in 128x256 on an H100, which `120 (m + n)` says
//! within a twentieth. Blocks of a cluster that share an operand bring their share of it, and wait for one another, a sixteenth of their products: 633 in 256x160 of two (`docs/performance/explore/pitches_tensor_op.jsonl`).
//!
//! Of clusters of more than two blocks fewer run at once than there are multiprocessors for: 33 of four count as two rounds, and 4104 cubed in 128x192 of four as seven.
//!
//! A cluster's parts are added in its first block's shared memory: no memset comes before the kernel, and no slot is in memory. What a problem takes longer by is in the model what it measured, 0.6 to 0.9 us for one tile a cluster in two parts, and of more up to 2 us, which bandwidth may hide (`docs/performance/explore/split_k_cluster.jsonl`).
//!
//! Parts are as many as fill one block of each multiprocessor, or two, and so on up to all that are resident; fewer, where K or the workspace has no more.
//!
//! The unit is one product. The numbers were fitted to times on an H200. On CUDA cores, 16, 2600 and 9000 come from the problems and tiles of
//! `docs/performance/explore/small_tiles_simt.jsonl`: of f32, 64x64x32 takes 29.7 ns a step where it is alone on a multiprocessor (512 cubed) and 50.3 ns for two of them
//! (1024 cubed); and those of parts from `split_k_simt.jsonl` there, whose times the model has
//! within 17 hundredths, at 3.25 us for a million products and 2.6 us for a launch, but for tiles of 64 threads, which take longer. On tensor cores, 60, 5 and 2900 are such that problems take what measured best of their tiles in `small_tiles_tensor_op.jsonl`, `hopper_tiles_*.jsonl` and
//! `hopper_promoted.jsonl` there, from 256 to 16384 cubed: 2900 lies between 2860, below which 4096 x 24576 x 1536 takes 128x176 instead of 128x128, and 3330, above which 2048 cubed
//! takes 64x128; without the 5, 16384 cubed takes 128x128 in place of 128x192.

use super::{choose::less, features::Features};
use crate::{
    arch::Machine,
    call::Partials,
    desc::GemmDesc,
    family::ProblemSize,
    numeric::MOST_PARTS,
    operand::Axis,
    shape::{Mnk, at_least_one},
};

impl GemmDesc {
    /// What the choice among descriptions compares, rounded: operands that are transposed first, and then time, in a unit that is the same for all descriptions
    /// of a problem.
    #[doc(hidden)]
    pub fn predicted(&self, size: &ProblemSize, machine: &Machine) -> (u32, u128) {
        let features = self.features();
        (features.transposed, self.cost(&features, (features.resident(machine), self.split_k()), size, machine).round() as u128)
    }

    /// What the description costs, and as how many parts of K; as those that cost the least where K may be cut.
    pub(super) fn cheapest_parts(
        &self,
        features: &Features,
        cuts_k: bool,
        size: &ProblemSize,
        machine: &Machine,
    ) -> ((u32, f64), u32) {
        let resident = features.resident(machine);
        let cost = |parts: u32| ((features.transposed, self.cost(features, (resident, parts), size, machine)), parts);
        let mut best = cost(self.split_k());
        let (extents, k) = self.extents(size);
        if self.streams_k() && Partials::of(self, extents, size.batch).workspace_bytes() > size.workspace {
            best.0.1 = f64::MAX;
        }
        if !cuts_k {
            return best;
        }
        let tile = self.threadblock();
        let tiles = self.tiles(extents).saturating_mul(size.batch as u64).max(1);
        let most = (k.div_ceil(tile.k.max(1) as usize) as u64).min(MOST_PARTS.into());
        for blocks in 1..=u64::from(resident) {
            let parts = (blocks * u64::from(machine.multiprocessors) / tiles).min(most) as u32;
            if parts < 2 || parts == best.1 {
                continue;
            }
            let cut = cost(parts);
            let partials = || Partials::of_parts(self, parts, extents, size.batch);
            if less(&cut.0, &best.0).is_lt() && partials().workspace_bytes() <= size.workspace {
                best = cut;
            }
        }
        best
    }

    /// M and N, and K, of a problem as the kernel sees it.
    pub(super) fn extents(&self, size: &ProblemSize) -> ((usize, usize), usize) {
        let (m, n, k) = size.extents;
        let extent = |axis: Axis| match axis.framed(self.frame) {
            Axis::M => m,
            Axis::N => n,
            Axis::K => k,
        };
        ((extent(Axis::M), extent(Axis::N)), k)
    }

    /// Tiles of D, those of whole clusters.
    fn tiles(&self, extents: (usize, usize)) -> u64 {
        let (tile, cluster) = (self.threadblock(), self.cluster());
        let rectangle = Mnk { m: tile.m.saturating_mul(cluster.m), n: tile.n.saturating_mul(cluster.n), k: tile.k };
        rectangle.tiles_of(extents).saturating_mul(cluster.count().into())
    }

    /// Time, in products, where so many blocks share a multiprocessor, of so many parts of K.
    fn cost(&self, features: &Features, (resident, parts): (u32, u32), size: &ProblemSize, machine: &Machine) -> f64 {
        let ((m, n), k) = self.extents(size);
        let (tile, batch) = (self.threadblock(), size.batch as u64);
        let depth = match parts {
            0 | 1 => k as f64,
            _ => k.div_ceil(tile.k.max(1) as usize).div_ceil(parts as usize) as f64 * f64::from(tile.k),
        };
        let tiles = self.tiles((m, n)).saturating_mul(batch);
        if self.streams_k() {
            return self.cost_of_streams(features, resident, (tiles, k), machine);
        }
        let units = tiles.saturating_mul(parts.into());
        let blocks = if self.cuts_by_cluster() { parts } else { self.cluster().count() };
        let load = (units / u64::from(blocks)).div_ceil(machine.resident_clusters(blocks).into());
        let (load, waves) = (load as f64, load.div_ceil(resident.into()) as f64);
        let each = features.step(self.rows_within_sectors(size));
        let mut steps = (load * each as f64 + waves * features.latency as f64) * depth;
        if let Some(memory) = &features.memory {
            let elements = (m as f64 + n as f64) * k as f64 * batch as f64;
            steps = steps.max(memory.cost(elements, depth * f64::from(tile.m.saturating_add(tile.n)), units as f64));
        }
        steps + features.ends(load) + features.exchange.cost(parts, load)
    }

    /// Time of streams of so many tiles: no multiprocessor waits for another. Fewer tiles than multiprocessors are cut into parts instead.
    fn cost_of_streams(&self, features: &Features, resident: u32, (tiles, k): (u64, usize), machine: &Machine) -> f64 {
        let multiprocessors = u64::from(at_least_one(machine.multiprocessors));
        if tiles < multiprocessors {
            return f64::MAX;
        }
        let load = tiles as f64 / multiprocessors as f64;
        let step = load * features.each as f64 + load / f64::from(resident) * features.latency as f64;
        // Two tiles more have a begin and an end.
        step * k as f64 + features.ends(load + 2.0) + features.exchange.of_streams()
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        arch::{ArchKind, OpKind},
        call::Partials,
        desc::{GemmDesc, PromotionKind},
        family::{ProblemSize, Request},
        layout::{MatrixType, Order},
        numeric::ElementKind,
    };

    /// The tile that a problem takes, of A and B in these orders and D row-major.
    fn tile(kind: ElementKind, orders: [Order; 2], promoted: bool, extents: (usize, usize, usize)) -> (u32, u32) {
        let tile = taken(kind, orders, promoted, extents).threadblock();
        (tile.m, tile.n)
    }

    /// The description that it takes.
    fn taken(kind: ElementKind, orders: [Order; 2], promoted: bool, extents: (usize, usize, usize)) -> GemmDesc {
        sized(kind, orders, promoted, ProblemSize::of(extents))
    }

    fn sized(kind: ElementKind, orders: [Order; 2], promoted: bool, size: ProblemSize) -> GemmDesc {
        let [a, b] = orders.map(|order| Some(MatrixType { element: kind, order }));
        let c = match kind {
            ElementKind::I8 => ElementKind::I32,
            ElementKind::Tf32 => ElementKind::F32,
            _ => ElementKind::Bf16,
        };
        let c = Some(MatrixType { element: c, order: Order::Row });
        let knobs = promoted.then(|| ("promotion".to_owned(), PromotionKind::Stage.name().to_owned()));
        let (op, knobs) = (Some(OpKind::TensorOp), knobs.into_iter().collect());
        let request = Request { a, b, c, op, knobs, ..Request::default() };
        request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc
    }

    fn from_registers(desc: &GemmDesc) -> bool {
        desc.warp_specialized().is_some_and(|desc| desc.a_from_registers())
    }

    /// What measured best of the three on 132 multiprocessors, or within a hundredth of it, where it was measured
    /// (`docs/performance/explore/hopper_tiles_*.jsonl`, `hopper_promoted.jsonl`); but of i8 at (4096, 24576, 1536), where 128x192 is faster.
    #[test]
    fn problems_take_the_tiles_that_measured_best() {
        let along_k = [Order::Row, Order::Col];
        for (extents, wanted) in [
            ((2048, 2048, 2048), (128, 128)),
            ((4096, 4096, 4096), (128, 128)),
            ((8192, 8192, 8192), (128, 192)),
            ((4096, 2112, 7168), (128, 176)),
            ((4096, 24576, 1536), (128, 128)),
            ((4096, 7168, 2048), (128, 128)),
            ((4096, 4096, 7168), (128, 128)),
        ] {
            for kind in [ElementKind::Bf16, ElementKind::E4m3, ElementKind::I8, ElementKind::Tf32] {
                assert_eq!(tile(kind, along_k, false, extents), wanted, "{kind} {extents:?}");
            }
        }
        for (extents, wanted) in [
            ((4096, 4096, 4096), (256, 128)),
            ((8192, 8192, 8192), (128, 192)),
            ((4096, 2112, 7168), (128, 192)),
            ((16384, 16384, 16384), (128, 192)),
            ((4096, 24576, 1536), (128, 192)),
            ((2048, 2048, 2048), (256, 128)),
            ((4096, 7168, 2048), (256, 128)),
            ((4096, 4096, 7168), (256, 128)),
        ] {
            assert_eq!(tile(ElementKind::E4m3, along_k, true, extents), wanted, "promoted {extents:?}");
        }
    }

    /// What measured best of small squares, or within a tenth of it (`docs/performance/explore/small_tiles_*.jsonl`, `squares_tensor_op.jsonl`).
    #[test]
    fn small_problems_take_small_tiles() {
        let wanted = [(64, 16), (64, 32), (64, 128), (128, 144), (128, 128), (128, 192)];
        for (size, wanted) in [256, 512, 1024, 1536, 2048, 3072].into_iter().zip(wanted) {
            assert_eq!(tile(ElementKind::Bf16, [Order::Row, Order::Col], false, (size, size, size)), wanted, "{size}");
        }
        let matrix = Some(MatrixType { element: ElementKind::F32, order: Order::Row });
        for (size, wanted) in [(256, 32), (512, 32), (768, 32), (1024, 64), (1536, 64), (2048, 256), (3000, 128), (4096, 256)] {
            let request = Request { a: matrix, b: matrix, c: matrix, op: Some(OpKind::Simt), ..Request::default() };
            let desc = request.resolve_for(ArchKind::Sm90, ProblemSize::of((size, size, size)), None);
            assert_eq!(desc.expect("a row").desc.threadblock().m, wanted, "{size}");
        }
    }

    /// Few tiles and a deep K: as many parts as fill the multiprocessors. Where tiles
    /// fill them, where the workspace has no room, and where the user says how many, K is not cut.
    #[test]
    fn a_deep_k_is_cut_where_the_workspace_has_room() {
        let matrix = Some(MatrixType { element: ElementKind::F32, order: Order::Row });
        let taken = |knobs: &[(&str, &str)], size: ProblemSize| {
            let knobs = knobs.iter().map(|(name, words)| ((*name).to_owned(), (*words).to_owned())).collect();
            let request = Request { a: matrix, b: matrix, c: matrix, op: Some(OpKind::Simt), knobs, ..Request::default() };
            request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc
        };
        let parts = |extents| taken(&[], ProblemSize::of(extents)).split_k();
        assert_eq!([(64, 64, 65536), (512, 512, 32768), (256, 256, 65536)].map(parts), [256, 16, 33]);
        assert_eq!([(4096, 4096, 4096), (4096, 4096, 1), (64, 64, 0), (0, 64, 65536)].map(parts), [1; 4]);
        for extents in [(64, 64, 65536), (512, 512, 32768), (64, 4096, 4096), (100, 60, 70_000)] {
            let best = taken(&[], ProblemSize::of(extents));
            let bytes = Partials::of(&best, (extents.0, extents.1), 1).workspace_bytes();
            assert!(best.split_k() > 1 && bytes > 0, "{extents:?}");
            let within = |workspace| taken(&[], ProblemSize { workspace, ..ProblemSize::of(extents) });
            assert_eq!((within(bytes), within(0).split_k()), (best, 1));
            let less = within(bytes - 1);
            assert!(Partials::of(&less, (extents.0, extents.1), 1).workspace_bytes() < bytes, "{extents:?}");
            for pinned in ["1", "3"] {
                assert_eq!(taken(&[("split_k", pinned)], ProblemSize::of(extents)).split_k().to_string(), pinned);
            }
        }
    }

    /// Parts of wide tiles take longer to add than their products save (`docs/performance/explore/split_k_cluster.jsonl`).
    #[test]
    fn a_deep_k_on_tensor_cores_is_cut_into_few_parts_of_small_tiles() {
        let deep = (512, 512, 32768);
        for (kind, extents) in [(ElementKind::Bf16, deep), (ElementKind::Bf16, (1024, 256, 16384)), (ElementKind::E4m3, deep)] {
            let desc = taken(kind, [Order::Row, Order::Col], false, extents);
            let tile = desc.threadblock();
            assert_eq!((tile.m, tile.n, desc.split_k(), desc.cuts_by_cluster()), (128, 64, 4, false), "{kind} {extents:?}");
        }
    }

    /// A cluster's blocks have the parts of K where that measured less time than all else, with a workspace and without one; where it measured more, none is taken
    /// (`docs/performance/explore/split_k_cluster.jsonl`, `few_tiles_tensor_op.jsonl`).
    #[test]
    fn few_tiles_of_a_deep_k_are_cut_by_clusters() {
        let along_k = [Order::Row, Order::Col];
        for (extents, wanted) in [
            ((16, 2112, 7168), (64, 16, 2)),
            ((32, 2112, 7168), (64, 32, 2)),
            ((64, 2112, 7168), (64, 64, 2)),
            ((128, 2112, 7168), (64, 64, 2)),
            ((128, 128, 16384), (64, 16, 4)),
            ((16, 576, 7168), (64, 16, 4)),
            ((16, 1024, 4096), (64, 16, 4)),
        ] {
            for (kind, workspace) in [(ElementKind::Bf16, u64::MAX), (ElementKind::F16, 0)] {
                let desc = sized(kind, along_k, false, ProblemSize { workspace, ..ProblemSize::of(extents) });
                let tile = desc.threadblock();
                assert_eq!((tile.m, tile.n, desc.split_k()), wanted, "{kind} {extents:?}");
                assert!(desc.cuts_by_cluster() && Partials::of(&desc, (extents.0, extents.1), 1).bytes() == 0, "{desc:?}");
            }
        }
        let whole = [(4096, 4096), (4096, 7168), (24576, 1536), (7168, 16384), (16384, 7168)];
        let few = [1, 16, 32, 64].into_iter().flat_map(|m| whole.map(|(n, k)| (m, n, k)));
        let squares = [256, 512, 768, 1000, 1024].map(|size| (size, size, size));
        for extents in few.chain(squares).chain([(512, 512, 32768), (64, 64, 65536), (1024, 256, 16384), (512, 512, 4096)]) {
            assert!(!taken(ElementKind::Bf16, along_k, false, extents).cuts_by_cluster(), "{extents:?}");
        }
        for extents in [(16, 2112, 7168), (64, 2112, 7168), (16, 4096, 4096)] {
            assert!(!taken(ElementKind::E4m3, along_k, false, extents).cuts_by_cluster(), "{extents:?}");
        }
    }

    /// Where rows begin within sectors of memory, blocks of a cluster share what TMA brings (`docs/performance/explore/pitches_tensor_op.jsonl`).
    #[test]
    fn rows_within_sectors_take_clusters() {
        let cluster = |kind, orders, size: ProblemSize| {
            let desc = sized(kind, orders, false, size);
            (desc.threadblock().m, desc.threadblock().n, desc.cluster().m * desc.cluster().n)
        };
        let (along_k, along_n) = ([Order::Row, Order::Col], [Order::Row; 2]);
        let square = |size| ProblemSize::of((size, size, size));
        for (kind, squares) in
            [(ElementKind::Bf16, [5000, 4104]), (ElementKind::E4m3, [5008, 4112]), (ElementKind::I8, [5008, 4112])]
        {
            assert_eq!(squares.map(|size| cluster(kind, along_k, square(size))), [(256, 160, 2), (256, 144, 2)], "{kind}");
        }
        // B lies along K for the kernel where D is column-major, and the user's A along K.
        for (orders, wanted) in [(along_n, (256, 160, 2)), ([Order::Col, Order::Row], (128, 256, 2))] {
            assert_eq!(cluster(ElementKind::Bf16, orders, square(5000)), wanted, "{orders:?}");
        }
        let pitched = ProblemSize { leading: [Some(4104); 2], ..square(4096) };
        assert!(cluster(ElementKind::Bf16, along_k, pitched).2 > 1);
        assert_eq!([4096, 4112, 5008].map(|size| cluster(ElementKind::Bf16, along_k, square(size)).2), [1; 3]);
    }

    /// The waves of a batch are of all its products: where one product's tiles fit one wave whatever they are, so that the smallest is taken, those of 22 do not.
    #[test]
    fn a_batch_takes_the_tile_of_its_waves() {
        let chosen = |batch| {
            let [a, b, c] =
                [Order::Row, Order::Col, Order::Row].map(|order| Some(MatrixType { element: ElementKind::Bf16, order }));
            let (op, size) = (Some(OpKind::TensorOp), ProblemSize { batch, ..ProblemSize::of((128, 1056, 4096)) });
            let knobs = vec![("decomposition".to_owned(), "splitk".to_owned())];
            let request = Request { a, b, c, op, knobs, ..Request::default() };
            request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc.threadblock().n
        };
        assert_eq!([0, 1, 22].map(chosen), [64, 32, 128]);
    }

    /// Columns of B that are N-major come in boxes of 64: 176 is unsupported, and the next best is taken.
    #[test]
    fn what_is_no_kernel_is_not_taken() {
        assert_eq!(tile(ElementKind::Bf16, [Order::Row, Order::Row], false, (4096, 2112, 7168)), (128, 192));
    }

    /// An operand that is MN-major comes from registers where it can, one of two such operands, and nothing else does.
    #[test]
    fn what_lies_along_m_or_n_comes_from_registers() {
        let (row, col, square) = (Order::Row, Order::Col, (4096, 4096, 4096));
        for (kind, wanted) in [(ElementKind::E4m3, (128, 256)), (ElementKind::I8, (128, 256)), (ElementKind::Tf32, (64, 256))] {
            for (orders, transposed) in [([col, col], 0), ([row, row], 0), ([col, row], 1)] {
                let desc = taken(kind, orders, false, square);
                assert_eq!((desc.threadblock().m, desc.threadblock().n), wanted, "{kind} {orders:?}");
                assert!(from_registers(&desc) && desc.features().transposed == transposed, "{kind} {orders:?}");
            }
        }
        assert_eq!(tile(ElementKind::E4m3, [col, col], false, (8192, 8192, 8192)), (128, 192));
        for (kind, orders, promoted) in [
            (ElementKind::E4m3, [row, col], false),
            (ElementKind::Bf16, [col, col], false),
            (ElementKind::E4m3, [col, col], true),
        ] {
            assert!(!from_registers(&taken(kind, orders, promoted, square)), "{kind} {orders:?}");
        }
    }
}
