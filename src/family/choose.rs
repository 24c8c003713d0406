//! Which of its configurations a problem takes: of those of its row one that transposes the fewest
//! operands, and of those the one that should take the least time by the [model](super::extents).
//! Of threads that TMA feeds a transpose is no number to be compared first, but time and room.
//!
//! Where that one would have an operand repacked or transposed first, configurations that read
//! operands in place, in accesses as wide as the rows allow, are weighed against the time of both;
//! and where the workspace has no room for the copies, the best of those is taken. Two repacked
//! operands are one launch of passes. What is so weighed was replayed from graphs
//! (`lab/data/trials.csv`, log `odd_in_graphs`): `mma.sync` takes less time of 255 and 516
//! cubed of bf16, and more from 511 cubed on where rows are read by one or two bytes, and from some
//! 1000 cubed on where they are read by four or eight.

use super::{Completions, ProblemSize, features::products_of_a_microsecond};
use crate::{
    arch::{Machine, OpKind},
    call::repacked_bytes,
    desc::{Cut, GemmDesc},
    numeric::ElementKind,
    operand::OperandKind,
    threadblock::tensor_map::STRIDE_ALIGNMENT,
};

impl Completions {
    /// The one that a problem costs the least with on `machine`, rows and columns of D as the user
    /// has them. Of equals, the first. What is invalid there does not count.
    pub(crate) fn choose(&self, size: &ProblemSize, machine: &Machine) -> GemmDesc {
        self.at(self.choice(size, machine))
    }

    /// The description of a choice.
    pub(crate) fn at(&self, (number, cut): (usize, Option<Cut>)) -> GemmDesc {
        let desc = self.all()[number];
        cut.map_or(desc, |cut| desc.divided(cut))
    }

    /// Which one that is, and into how many parts it cuts K, and who adds them, where those are
    /// others than it has.
    pub(crate) fn choice(&self, size: &ProblemSize, machine: &Machine) -> (usize, Option<Cut>) {
        let all = self.all();
        if let [one] = all
            && self.ways(one).is_empty()
        {
            return (0, None);
        }
        // All of them have been checked for the smallest machine of their architecture; by number,
        // since descriptions are large.
        let larger = machine.has_all_of(&all[0].class.arch.machine());
        let fits = |desc: &GemmDesc| {
            (larger || desc.check_on(machine).is_ok())
                && (!size.groups || desc.check_groups().is_ok())
        };
        let chosen = |i: usize, cut: Cut| (i, Some(cut).filter(|&cut| cut != all[i].cut_of()));
        // Of those that cost no more than the best until now.
        let cheapest = |i: usize, most: f64| {
            all[i]
                .cheapest_parts(&self.features()[i], self.ways(&all[i]), size, machine, most)
                .map(|cost| (cost, i))
        };
        let of_row = (0..self.of_row()).filter(|&i| i == 0 || fits(&all[i]));
        // Where threads multiply, copies before a kernel are a matter of time and room; of groups
        // none was measured.
        let with_passes =
            |(((transposed, time), parts), i): Costing| match all[i].passes_of_threads(size) {
                None => (((transposed, time), parts), i),
                Some(passes) if size.groups || passes.bytes > size.for_passes => {
                    (((transposed, f64::MAX), parts), i)
                }
                Some(passes) => (((transposed, time + passes.time), parts), i),
            };
        let best = of_row.fold(None, |best: Option<Costing>, i| {
            let most = best.map_or(f64::MAX, |((cost, _), _)| {
                if cost.0 > self.features()[i].transposed { f64::MAX } else { cost.1 }
            });
            cheaper(best, cheapest(i, most).map(with_passes))
        });
        let Some((((_, time), parts), best)) = best else {
            return (0, None);
        };
        if self.of_row() == all.len() {
            return chosen(best, parts);
        }
        // What reads operands in place takes the time of its products beside that of copies and a
        // kernel behind them.
        let Some(passes) = all[best].passes(size) else { return chosen(best, parts) };
        let most = if passes.bytes > size.for_passes { f64::MAX } else { time + passes.time };
        let in_place = (self.of_row()..all.len())
            .filter(|&i| all[i].reads_rows_of(passes.access) && fits(&all[i]));
        match in_place.fold(None, |best, i| cheaper(best, cheapest(i, f64::MAX))) {
            Some((((_, other), parts), i)) if other < most => chosen(i, parts),
            _ => chosen(best, parts),
        }
    }
}

/// What a description costs, operands that are transposed and time; its parts of K; and which one
/// it is.
type Costing = (((u32, f64), Cut), usize);

/// The one that costs less: of operands that are transposed first, and then of time. Of equals, the
/// first.
fn cheaper(one: Option<Costing>, other: Option<Costing>) -> Option<Costing> {
    match (one, other) {
        (Some(((one_costs, _), _)), Some(((costs, _), _))) => {
            let less = costs.0.cmp(&one_costs.0).then(costs.1.total_cmp(&one_costs.1)).is_lt();
            if less { other } else { one }
        }
        _ => one.or(other),
    }
}

/// What copies of operands take before a kernel, and what spares them.
struct Passes {
    /// Time, in products.
    time: f64,
    /// Bytes of the workspace that the copies take.
    bytes: u64,
    /// Bytes of the widest access to rows of both operands where they lie.
    access: u64,
}

/// The rows of an operand, as the kernel has it.
struct OperandRows {
    element: ElementKind,
    /// How many, and elements of each.
    lines: usize,
    length: usize,
    /// Bytes from one to the next.
    pitch: u64,
}

impl GemmDesc {
    /// Rows of A, and of B.
    fn operand_rows(&self, size: &ProblemSize) -> [OperandRows; 2] {
        let ((m, n), k) = self.extents(size);
        [(OperandKind::A, m), (OperandKind::B, n)].map(|(operand, mn)| {
            let (class, of_user) = (self.class.operand(operand), operand.leave(self.frame).index());
            let (lines, length) = if class.layout.along_k(operand) { (mn, k) } else { (k, mn) };
            let pitch = class.element.matrix_bytes(size.leading[of_user].unwrap_or(length) as u64);
            OperandRows { element: class.element, lines, length, pitch }
        })
    }

    /// Whether copies of A and B are of rows that lie multiples of so many bytes apart.
    fn reads_rows_of(&self, access: u64) -> bool {
        let aligned = self.alignments();
        OperandKind::BOTH.into_iter().all(|operand| {
            let bytes =
                self.class.operand(operand).element.matrix_bytes(aligned[operand.index()].into());
            access.is_multiple_of(bytes)
        })
    }

    /// Whether rows of A, and of B, begin within sectors of memory, as the kernel sees them: a line
    /// of such a row is of two lines of the second-level cache. Rows that are repacked lie
    /// multiples of 16 bytes apart.
    pub(super) fn rows_within_sectors(&self, size: &ProblemSize) -> [bool; 2] {
        const SECTOR: u64 = 32;
        self.operand_rows(size).map(|OperandRows { pitch, .. }| {
            pitch
                .checked_next_multiple_of(STRIDE_ALIGNMENT)
                .is_some_and(|bytes| !bytes.is_multiple_of(SECTOR))
        })
    }

    /// What brings operands to threads that TMA feeds, where it cannot read them or they lie the
    /// other way.
    fn passes_of_threads(&self, size: &ProblemSize) -> Option<Passes> {
        if matches!(self.class.op, OpKind::Simt) { self.passes(size) } else { None }
    }

    /// Time of copies before the kernel.
    pub(super) fn time_of_passes(&self, size: &ProblemSize) -> f64 {
        self.passes(size).map_or(0.0, |passes| passes.time)
    }

    /// What brings operands that TMA cannot read where they lie, or that the kernel has transposed;
    /// `None` where there is none.
    fn passes(&self, size: &ProblemSize) -> Option<Passes> {
        // Of an element, in products: beside a kernel of threads it is hidden less, and products
        // are fewer (`lab/data/trials.csv`, log `streams_f32`).
        let of_element = if matches!(self.class.op, OpKind::TensorOp) { 3.0 } else { 0.85 };
        let tensors = self.warp_specialized().filter(|desc| !desc.knobs.emulation.decomposes())?;
        let rows = self.operand_rows(size);
        let (mut passes, mut access) =
            (Passes { time: 0.0, bytes: 0, access: 0 }, STRIDE_ALIGNMENT);
        let mut repacked = 0;
        for (operand, OperandRows { element, lines, length, pitch }) in
            OperandKind::BOTH.into_iter().zip(&rows)
        {
            let whole = *lines < 2 || pitch.is_multiple_of(STRIDE_ALIGNMENT);
            access |= if whole { 0 } else { *pitch };
            let turned = tensors.reads_transposed(operand);
            if turned || !whole {
                let (lines, length) = if turned { (*length, *lines) } else { (*lines, *length) };
                let matrices = size.batch as u64;
                passes.bytes = passes.bytes.saturating_add(
                    repacked_bytes(*element, lines, length).saturating_mul(matrices),
                );
                passes.time += lines as f64 * length as f64 * matrices as f64 * of_element;
                repacked += u32::from(!turned);
            }
        }
        // The widest that divides all rows.
        passes.access = access & access.wrapping_neg();
        // Of a launch, in microseconds: rows that are read by one or two bytes take longer to begin
        // with (`lab/data/trials.csv`, log `odd_in_graphs`).
        let of_launch = match self.class.op {
            OpKind::Simt => 2.5,
            OpKind::TensorOp if passes.access < 4 => 4.2,
            OpKind::TensorOp => 2.4,
        };
        let launches = tensors.transposed() + repacked.min(1);
        passes.time += f64::from(launches)
            * of_launch
            * products_of_a_microsecond(self.class.op, rows[0].element) as f64;
        (launches > 0).then_some(passes)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        arch::{ArchKind, OpKind},
        family::{ProblemSize, Request},
        layout::{MatrixType, Order},
        numeric::ElementKind,
    };

    /// Configurations are left out where their products alone cost more than there may be, never at
    /// what they cost.
    #[test]
    fn what_is_not_weighed_costs_more() {
        let machine = ArchKind::Sm90.machine();
        for (kind, c, op) in [
            (ElementKind::Bf16, ElementKind::Bf16, OpKind::TensorOp),
            (ElementKind::I8, ElementKind::I32, OpKind::TensorOp),
            (ElementKind::F64, ElementKind::F64, OpKind::TensorOp),
            (ElementKind::F32, ElementKind::F32, OpKind::Simt),
        ] {
            let matrix = |element, order| Some(MatrixType { element, order });
            let (a, b, c) =
                (matrix(kind, Order::Row), matrix(kind, Order::Col), matrix(c, Order::Row));
            let all = Request { a, b, c, op: Some(op), ..Request::default() }
                .wanted()
                .expect("no knobs")
                .completions(ArchKind::Sm90.into())
                .expect("a row");
            for extents in [
                (1, 1, 1),
                (64, 24576, 1536),
                (128, 128, 16384),
                (1000, 1000, 1000),
                (2047, 2049, 1023),
                (8192, 8192, 8192),
            ] {
                for batch in [1, 33] {
                    let size = ProblemSize { batch, ..ProblemSize::of(extents) };
                    for (desc, features) in all.all().iter().zip(all.features()) {
                        let cheapest = |most| {
                            desc.cheapest_parts(features, all.ways(desc), &size, &machine, most)
                        };
                        let ((_, time), _) = cheapest(f64::MAX).expect("no limit");
                        assert!(
                            cheapest(time).is_some(),
                            "{extents:?} {batch}: {:?}",
                            desc.threadblock()
                        );
                    }
                }
            }
        }
    }

    /// Whether a problem's kernel is fed by TMA.
    fn by_tma(kind: ElementKind, orders: [Order; 2], size: ProblemSize) -> bool {
        let matrix = |element, order| Some(MatrixType { element, order });
        let c = match kind {
            ElementKind::I8 => ElementKind::I32,
            ElementKind::Tf32 => ElementKind::F32,
            _ => ElementKind::Bf16,
        };
        let [a, b] = orders.map(|order| matrix(kind, order));
        let request = Request {
            a,
            b,
            c: matrix(c, Order::Row),
            op: Some(OpKind::TensorOp),
            ..Request::default()
        };
        request
            .resolve_for(ArchKind::Sm90, size, None)
            .expect("a row")
            .desc
            .warp_specialized()
            .is_some()
    }

    /// Rows that TMA cannot read are read in place where that measured less time than copies and a
    /// kernel behind them (`lab/data/trials.csv`, log `odd_in_graphs`); rows that it can never
    /// are.
    #[test]
    fn rows_that_lie_anywhere_are_read_in_place_where_that_takes_less_time() {
        let (along_k, square) =
            ([Order::Row, Order::Col], |size| ProblemSize::of((size, size, size)));
        for (kind, in_place, copied) in [
            (ElementKind::Bf16, &[255, 260, 516][..], &[511, 765, 1004, 1023, 4095][..]),
            (ElementKind::I8, &[255], &[511, 1004, 1023, 4095]),
            (ElementKind::Tf32, &[255], &[767, 1023, 2047]),
            (ElementKind::E4m3, &[], &[511, 1000]),
        ] {
            for (sizes, copies) in [(in_place, false), (copied, true)] {
                sizes.iter().for_each(|&size| {
                    assert_eq!(by_tma(kind, along_k, square(size)), copies, "{kind} {size}")
                });
            }
            for size in [768, 1024, 4096] {
                assert!(
                    by_tma(kind, along_k, ProblemSize { for_passes: 0, ..square(size) }),
                    "{kind} {size}"
                );
            }
        }
        let batch = ProblemSize { batch: 16, ..square(300) };
        assert!(by_tma(ElementKind::Bf16, along_k, batch));
        let pitched = ProblemSize { leading: [Some(1008); 2], ..square(1002) };
        assert!(by_tma(ElementKind::Bf16, along_k, pitched));
        // Rows of one element more than 2^30: nothing overflows.
        assert!(by_tma(ElementKind::Bf16, along_k, square((1 << 30) + 1)));
    }

    /// What TMA reads where it lies is left to it, however soon threads would be done: replayed
    /// from a graph the smallest products take less by it
    /// (`lab/data/trials.csv`, log `in_graphs`).
    #[test]
    fn what_tma_reads_is_left_to_it() {
        for kind in [
            ElementKind::Bf16,
            ElementKind::F16,
            ElementKind::I8,
            ElementKind::Tf32,
            ElementKind::E4m3,
        ] {
            for size in [16, 64, 256, 512, 1024] {
                for of in [
                    ProblemSize::of((size, size, size)),
                    ProblemSize { batch: 64, ..ProblemSize::of((size, size, size)) },
                ] {
                    assert!(by_tma(kind, [Order::Row, Order::Col], of), "{kind} {size}");
                }
            }
        }
    }

    /// Copies that the workspace has no room for are not made; and what would be transposed is
    /// weighed likewise.
    #[test]
    fn without_a_workspace_rows_are_read_in_place() {
        let (along_k, along_n) = ([Order::Row, Order::Col], [Order::Row; 2]);
        let odd = ProblemSize::of((2044, 2044, 2044));
        let bytes = 2 * 2044 * 2048 * 2;
        for (for_passes, copies) in [(0, false), (bytes - 1, false), (bytes, true)] {
            assert_eq!(
                by_tma(ElementKind::Bf16, along_k, ProblemSize { for_passes, ..odd }),
                copies,
                "{for_passes}"
            );
        }
        let whole = ProblemSize::of((8192, 8192, 8192));
        assert!(by_tma(ElementKind::Tf32, along_n, ProblemSize { for_passes: 0, ..whole }));
        let turned = [Order::Col, Order::Row];
        for (size, transposed) in [(256, false), (512, false), (1000, true), (1024, true)] {
            assert_eq!(
                by_tma(ElementKind::Tf32, turned, ProblemSize::of((size, size, size))),
                transposed,
                "{size}"
            );
        }
        assert!(by_tma(ElementKind::Tf32, turned, whole));
        assert!(!by_tma(ElementKind::Tf32, turned, ProblemSize { for_passes: 0, ..whole }));
    }
}
