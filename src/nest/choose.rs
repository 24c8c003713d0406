//! The choice among the candidate configurations of a problem.
//!
//! Candidates of the row are compared by the number of transposed operands first, and by the
//! predicted time of the [cost model](crate::nest::cost_model) second. For TMA-fed SIMT kernels, a
//! transpose instead counts as time and workspace.
//!
//! Some candidates read operands in place, with accesses as wide as the rows allow. If the best
//! other candidate needs repacked or transposed operands, its kernel and passes compete with them.
//! If the workspace cannot hold the copies, the best in-place candidate is chosen. Two repacked
//! operands use one launch.
//!
//! The model fits the times of graph replays (`lab/data/trials.csv`, log `odd_in_graphs`). For
//! bf16, `mma.sync` is faster at 255 and 516 cubed. It is slower from 511 cubed on if rows are read
//! by one or two bytes. It is slower from about 1000 cubed on if rows are read by four or eight
//! bytes.

use crate::{
    arch::{Machine, OpKind},
    nest::{Completions, Cut, GemmDesc, ProblemSize, features::products_of_a_microsecond},
    numeric::ElementKind,
    operand::{repacked_bytes, tma_reads_rows},
    shape::OperandKind,
    threadblock::tensor_map::STRIDE_ALIGNMENT,
};

impl Completions {
    /// Returns the candidate with the lowest predicted time on `machine`, for extents in the user's
    /// frame. The first of equal candidates wins. Candidates that are invalid on `machine` are
    /// skipped.
    pub(crate) fn choose(&self, size: &ProblemSize, machine: &Machine) -> GemmDesc {
        self.at(self.choice(size, machine))
    }

    /// Returns the description of a choice.
    pub(crate) fn at(&self, (number, cut): (usize, Option<Cut>)) -> GemmDesc {
        let desc = self.all()[number];
        cut.map_or(desc, |cut| desc.divided(cut))
    }

    /// Returns the index of the chosen candidate, and its split-K if that differs from the
    /// candidate's own.
    pub(crate) fn choice(&self, size: &ProblemSize, machine: &Machine) -> (usize, Option<Cut>) {
        let all = self.all();
        if let [one] = all
            && self.ways(one).is_empty()
        {
            return (0, None);
        }
        // The candidates are valid on the smallest machine of their architecture. The code passes
        // indices, because descriptions are large.
        let larger = machine.has_all_of(&all[0].arch.machine());
        let fits = |desc: &GemmDesc| {
            (larger || desc.check_on(machine).is_ok())
                && size.groups.is_none_or(|axis| desc.check_groups(axis).is_ok())
                && !(size.array && desc.streams_k())
        };
        let chosen = |i: usize, cut: Cut| (i, Some(cut).filter(|&cut| cut != all[i].cut_of()));
        // Skips candidates whose lower bound exceeds the best time so far.
        let cheapest = |i: usize, most: f64| {
            all[i]
                .cheapest_cut(&self.features()[i], self.ways(&all[i]), size, machine, most)
                .map(|cost| (cost, i))
        };
        let of_row = (0..self.row_length()).filter(|&i| i == 0 || fits(&all[i]));
        // For SIMT kernels, passes cost time and workspace. Passes of grouped GEMMs were not
        // measured.
        let with_passes =
            |(((transposed, time), slices), i): Costing| match all[i].passes_of_threads(size) {
                None => (((transposed, time), slices), i),
                Some(passes) if size.groups.is_some() || passes.bytes > size.for_passes => {
                    (((transposed, f64::MAX), slices), i)
                }
                Some(passes) => (((transposed, time + passes.time), slices), i),
            };
        let best = of_row.fold(None, |best: Option<Costing>, i| {
            let most = best.map_or(f64::MAX, |((cost, _), _)| {
                if cost.0 > self.features()[i].transposed { f64::MAX } else { cost.1 }
            });
            cheaper(best, cheapest(i, most).map(with_passes))
        });
        let Some((((_, time), slices), best)) = best else {
            return (0, None);
        };
        if self.row_length() == all.len() {
            return chosen(best, slices);
        }
        // An in-place candidate competes with the passes and the kernel after them.
        let Some(passes) = all[best].passes(size) else { return chosen(best, slices) };
        let most = if passes.bytes > size.for_passes { f64::MAX } else { time + passes.time };
        let in_place = (self.row_length()..all.len())
            .filter(|&i| all[i].reads_rows_of(passes.access) && fits(&all[i]));
        match in_place.fold(None, |best, i| cheaper(best, cheapest(i, f64::MAX))) {
            Some((((_, other), slices), i)) if other < most => chosen(i, slices),
            _ => chosen(best, slices),
        }
    }
}

/// The cost of a candidate: (transposed operands, time), its split-K, and its index.
type Costing = (((u32, f64), Cut), usize);

/// Returns the cheaper candidate by transposed operands, then by time. The first of equal
/// candidates wins.
fn cheaper(one: Option<Costing>, other: Option<Costing>) -> Option<Costing> {
    match (one, other) {
        (Some(((one_costs, _), _)), Some(((costs, _), _))) => {
            let less = costs.0.cmp(&one_costs.0).then(costs.1.total_cmp(&one_costs.1)).is_lt();
            if less { other } else { one }
        }
        _ => one.or(other),
    }
}

/// The cost of passes that copy operands before the kernel.
struct Passes {
    /// Time, in multiply-adds.
    time: f64,
    /// Bytes of workspace for the copies.
    bytes: u64,
    /// Width in bytes of the widest access to the rows of both operands in place.
    access: u64,
}

/// The rows of an operand in the kernel's frame.
struct OperandRows {
    element: ElementKind,
    /// Number of rows, and elements per row.
    lines: usize,
    length: usize,
    /// Bytes from one row to the next.
    pitch: u64,
}

impl GemmDesc {
    /// Returns the rows of A, and of B.
    fn operand_rows(&self, size: &ProblemSize) -> [OperandRows; 2] {
        let ((m, n), k) = self.extents(size);
        [(OperandKind::A, m), (OperandKind::B, n)].map(|(operand, mn)| {
            let (class, of_user) = (self.operand(operand), operand.leave(self.frame).index());
            let (lines, length) = if class.layout.along_k(operand) { (mn, k) } else { (k, mn) };
            let pitch = class.stored.matrix_bytes(size.leading[of_user].unwrap_or(length) as u64);
            OperandRows { element: class.stored, lines, length, pitch }
        })
    }

    /// Returns whether the accesses of A and B fit rows that are aligned to `access` bytes.
    fn reads_rows_of(&self, access: u64) -> bool {
        let aligned = self.alignments();
        OperandKind::BOTH.into_iter().all(|operand| {
            let bytes = self.operand(operand).stored.matrix_bytes(aligned[operand.index()].into());
            access.is_multiple_of(bytes)
        })
    }

    /// Returns the factors by which lines of A, and of B, take longer to load, in the kernel's
    /// frame. If rows begin within sectors of memory, a line of a row spans two lines of the L2
    /// cache. Repacked rows are multiples of 16 bytes apart.
    pub(crate) fn slower_lines(&self, size: &ProblemSize) -> [f64; 2] {
        const SECTOR: u64 = 32;
        // With this factor, the fastest of the measured tiles has the least cost
        // (`docs/decisions/2026-11-30-gathering-producers.md`).
        const GATHERED: f64 = 1.7;
        let rows = self.operand_rows(size);
        OperandKind::BOTH.map(|operand| {
            let pitch = rows[operand.index()].pitch.checked_next_multiple_of(STRIDE_ALIGNMENT);
            let gathers = size.gathers[operand.leave(self.frame).index()];
            match pitch {
                _ if gathers && self.may_gather(operand) => GATHERED,
                Some(bytes) if !bytes.is_multiple_of(SECTOR) => 2.0,
                _ => 1.0,
            }
        })
    }

    /// Returns the passes of a TMA-fed SIMT kernel, which repack or transpose operands.
    fn passes_of_threads(&self, size: &ProblemSize) -> Option<Passes> {
        if matches!(self.op(), OpKind::Simt) { self.passes(size) } else { None }
    }

    /// Returns the time of the passes before the kernel.
    pub(crate) fn time_of_passes(&self, size: &ProblemSize) -> f64 {
        self.passes(size).map_or(0.0, |passes| passes.time)
    }

    /// Returns the passes that repack operands for TMA or transpose them; `None` if none is needed.
    fn passes(&self, size: &ProblemSize) -> Option<Passes> {
        // Time per element, in multiply-adds. Before a SIMT kernel, less of the time is hidden, and
        // the unit is longer (`lab/data/trials.csv`, log `streams_f32`).
        let of_element = if matches!(self.op(), OpKind::TensorOp) { 3.0 } else { 0.85 };
        let tensors =
            Some(self).filter(|desc| desc.has_producer() && !desc.emulation().decomposes())?;
        let rows = self.operand_rows(size);
        let (mut passes, mut access) =
            (Passes { time: 0.0, bytes: 0, access: 0 }, STRIDE_ALIGNMENT);
        let mut repacked = 0;
        for (operand, OperandRows { element, lines, length, pitch }) in
            OperandKind::BOTH.into_iter().zip(&rows)
        {
            let whole = tma_reads_rows(*lines, element.matrix_bytes(*length as u64), *pitch);
            access |= if whole { 0 } else { *pitch };
            let transposed = tensors.reads_transposed(operand);
            if transposed || !whole {
                let (lines, length) =
                    if transposed { (*length, *lines) } else { (*lines, *length) };
                let matrices = size.batch as u64;
                passes.bytes = passes.bytes.saturating_add(
                    repacked_bytes(*element, lines, length).saturating_mul(matrices),
                );
                passes.time += lines as f64 * length as f64 * matrices as f64 * of_element;
                repacked += u32::from(!transposed);
            }
        }
        // The largest power of two, up to 16, that divides all misaligned pitches.
        passes.access = access & access.wrapping_neg();
        // Microseconds per launch. Passes that read rows by one or two bytes take longer to start
        // (`lab/data/trials.csv`, log `odd_in_graphs`).
        let of_launch = match self.op() {
            OpKind::Simt => 2.5,
            OpKind::TensorOp if passes.access < 4 => 4.2,
            OpKind::TensorOp => 2.4,
        };
        let launches = tensors.transposed() + repacked.min(1);
        passes.time += f64::from(launches)
            * of_launch
            * products_of_a_microsecond(self.op(), rows[0].element) as f64;
        (launches > 0).then_some(passes)
    }
}

#[cfg(test)]
#[path = "choose_tests.rs"]
pub(crate) mod tests;
