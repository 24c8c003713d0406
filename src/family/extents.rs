//! Which of a row's configurations a problem takes: one that transposes the fewest operands first, and of those the one that should take the
//! least time, by a model of the busiest multiprocessor.
//!
//! A multiprocessor works on as many tiles at once as blocks fit on it, and on the rest in waves:
//!
//! ```text
//! cost  = K * (load * each + waves * latency) + exposed * hidden_by_nothing
//! load  = ceil(tiles / multiprocessors)        waves = ceil(load / resident blocks)        tiles: of all products of a batch
//! ```
//!
//! | | tensor cores of Hopper | CUDA cores |
//! |---|---|---|
//! | `each`, a step along K of one tile | `max(m n (1 + 5 (1/64 + 1/w)) / (1 + 5 (1/64 + 1/128)), 60 (m + n))` for instructions of 64 x w: products and their reads of shared memory, or what the second-level cache brings | `m n (1 + 16 (1/wm + 1/wn))` for warp tiles of wm x wn, twice that where copies and products take turns |
//! | `latency`, a step along K that nobody else fills | 0: the blocks are persistent, one a multiprocessor | 2600 under `multistage`, else 9000: the barriers and the loads between them |
//! | `hidden_by_nothing` | `2900 m n`, once under ping-pong, else for each tile | `32 m n` for each tile |
//!
//! The unit is one product. The numbers were fitted to times on an H200. On CUDA cores, 16, 2600 and 9000 come from the problems and tiles of
//! `docs/performance/explore/small_tiles_simt.jsonl`: of f32, 64x64x32 takes 29.7 ns a step where it is alone on a multiprocessor (512 cubed) and 50.3 ns for two of them
//! (1024 cubed). On tensor cores, 60, 5 and 2900 are such that problems take what measured best of their tiles in `small_tiles_tensor_op.jsonl`, `hopper_tiles_*.jsonl` and
//! `hopper_promoted.jsonl` there, from 256 to 16384 cubed: 2900 lies between 2860, below which 4096 x 24576 x 1536 takes 128x176 instead of 128x128, and 3330, above which 2048 cubed
//! takes 64x128; without the 5, 16384 cubed takes 128x128 in place of 128x192.

use crate::{arch::Machine, desc::GemmDesc, family::Completions, operand::Axis};

impl Completions {
    /// The one that a batch of so many products of (m, n, k), rows and columns of D as the user has them, costs the least with on `machine`. Of
    /// equals, the first. What is invalid there does not count.
    pub(crate) fn choose(&self, extents: (usize, usize, usize), batch: usize, machine: &Machine) -> GemmDesc {
        let [first, others @ ..] = self.all() else { return self.first() };
        // All of them have been checked for the architecture's own machine.
        let reference = first.class.arch.machine();
        let legal = Machine { multiprocessors: machine.multiprocessors, ..reference } == *machine;
        let others = others.iter().filter(|other| legal || other.check_on(machine).is_ok());
        *std::iter::once(first).chain(others).min_by_key(|desc| desc.predicted(extents, batch, machine)).unwrap_or(first)
    }
}

/// What the model has to know of a description.
pub(super) struct Features {
    /// How many operands a call transposes to its workspace first: no kernel measured was so much slower without that it paid
    /// (`docs/performance/explore/hopper_registers_*.jsonl`).
    pub transposed: usize,
    /// Time of one step along K of one tile, in products.
    pub each: u64,
    /// Time of one step that no resident block fills, in products.
    pub latency: u64,
    /// Blocks that share a multiprocessor; one where they are persistent.
    pub resident: u32,
    /// Time of a tile's begin and end, in products.
    pub not_hidden: u64,
    /// Whether only the first tile's begin and the last one's end count: consumers take tiles under ping-pong.
    pub pingpong: bool,
}

impl GemmDesc {
    /// What the choice among descriptions compares: operands that are transposed first, and then time, in a unit that is the same for all descriptions
    /// of a problem.
    #[doc(hidden)]
    pub fn predicted(&self, extents: (usize, usize, usize), batch: usize, machine: &Machine) -> (usize, u128) {
        let features = self.features(machine);
        (features.transposed, self.cost(&features, extents, batch, machine))
    }

    /// Time, in products.
    fn cost(&self, features: &Features, (m, n, k): (usize, usize, usize), batch: usize, machine: &Machine) -> u128 {
        let extent = |axis: Axis| match axis.framed(self.frame) {
            Axis::M => m,
            Axis::N => n,
            Axis::K => k,
        };
        let (m, n) = (extent(Axis::M), extent(Axis::N));
        let tile = self.threadblock();
        let tiles = m.div_ceil(tile.m.max(1) as usize) as u128 * n.div_ceil(tile.n.max(1) as usize) as u128;
        let load = tiles.saturating_mul(batch as u128).div_ceil(u128::from(machine.multiprocessors.max(1)));
        let waves = load.div_ceil(u128::from(features.resident.max(1)));
        // Of extents beyond 64 bits the largest number is the cost.
        let step = load.saturating_mul(features.each.into()).saturating_add(waves.saturating_mul(features.latency.into()));
        let exposed = if features.pingpong { 1 } else { load };
        step.saturating_mul(k as u128).saturating_add(exposed.saturating_mul(features.not_hidden.into()))
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        arch::{ArchKind, OpKind},
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
        request.resolve_for(ArchKind::Sm90, ProblemSize { extents, batch: 1 }, None).expect("a row").desc
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

    /// What measured best of small squares, or within a tenth of it (`docs/performance/explore/small_tiles_*.jsonl`).
    #[test]
    fn small_problems_take_small_tiles() {
        for (size, wanted) in [(512, (128, 64)), (1024, (128, 64)), (2048, (128, 128)), (3072, (128, 192))] {
            assert_eq!(tile(ElementKind::Bf16, [Order::Row, Order::Col], false, (size, size, size)), wanted, "{size}");
        }
        let matrix = Some(MatrixType { element: ElementKind::F32, order: Order::Row });
        for (size, wanted) in [(256, 32), (512, 32), (768, 32), (1024, 64), (1536, 64), (2048, 256), (3000, 128), (4096, 256)] {
            let request = Request { a: matrix, b: matrix, c: matrix, op: Some(OpKind::Simt), ..Request::default() };
            let desc = request.resolve_for(ArchKind::Sm90, ProblemSize { extents: (size, size, size), batch: 1 }, None);
            assert_eq!(desc.expect("a row").desc.threadblock().m, wanted, "{size}");
        }
    }

    /// The waves of a batch are of all its products: where one product's tiles fit one wave whatever they are, so that the smallest is taken, those of 22 do not.
    #[test]
    fn a_batch_takes_the_tile_of_its_waves() {
        let chosen = |batch| {
            let [a, b, c] =
                [Order::Row, Order::Col, Order::Row].map(|order| Some(MatrixType { element: ElementKind::Bf16, order }));
            let (op, size) = (Some(OpKind::TensorOp), ProblemSize { extents: (128, 1056, 4096), batch });
            let request = Request { a, b, c, op, ..Request::default() };
            request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc.threadblock().n
        };
        assert_eq!([0, 1, 22].map(chosen), [64, 64, 176]);
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
                assert!(
                    from_registers(&desc) && desc.features(&ArchKind::Sm90.machine()).transposed == transposed,
                    "{kind} {orders:?}"
                );
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
