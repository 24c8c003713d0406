//! Groups of a grouped GEMM: consecutive rows of A and D, consecutive columns of B and D, or
//! consecutive columns of A and rows of B.

use crate::{
    nest::{GemmDesc, GemmMode},
    operand::{Call, Elements, HostCall, ListReader, Memory, Problem, View},
    refusal::{Field, Operand, Refusal, rules::within},
    shape::{Axis, Mn, Mnk, OperandKind},
    threadblock::{SwizzleKind, Work, WorkKind, group_rectangles, lines_of_rectangle},
};
use core::ops::Range;

/// Groups of a grouped GEMM. Group `i` is the lines along `axis` from offset `i` to offset `i + 1`.
/// With [`Axis::M`], the kernel multiplies group `i` of A by the `i`-th B. With [`Axis::N`], it
/// multiplies the `i`-th A by group `i` of B. Lines of D outside all groups keep their values. With
/// [`Axis::K`], the kernel multiplies group `i` of A by group `i` of B, and writes all of the `i`-th
/// D. Lines of A and B outside all groups are not read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Groups<R> {
    /// M for groups of rows of A and D, N for groups of columns of B and D, K for groups of columns
    /// of A and rows of B.
    pub axis: Axis,
    /// Unsigned 32-bit offsets, one more than groups, as a column vector.
    pub offsets: View<R>,
    /// Reader of the offsets.
    pub read: ListReader,
}

impl<R> Groups<R> {
    /// Creates groups from their offsets.
    pub const fn new(axis: Axis, offsets: R) -> Self {
        Self { axis, offsets: View::vector(offsets, OperandKind::A), read: ListReader::InPlace }
    }

    pub(super) fn swapped(self) -> Self {
        Self { axis: self.axis.swapped(), ..self }
    }

    /// Returns the groups with offsets in other memory.
    pub fn with<S>(&self, offsets: S) -> Groups<S> {
        Groups { axis: self.axis, offsets: self.offsets.with(offsets), read: self.read }
    }
}

impl<R: Memory, W: Memory> Call<R, W> {
    /// Returns the description of the kernel that computes the user's call: one GEMM, a batch, or
    /// groups, with the addressing of the call.
    pub fn kernel_of(&self, desc: GemmDesc) -> GemmDesc {
        let desc = self
            .groups
            .as_ref()
            .map_or(desc.for_batch(self.batch), |groups| desc.for_groups(groups.axis));
        let mut addressing = self.addressing(desc.orders().c).enter(desc.frame);
        if desc.has_producer() && addressing.gathers != [false; 2] {
            let problem = self.problem().enter_unchecked(&desc);
            for operand in OperandKind::BOTH {
                addressing.gathers[operand.index()] &= problem.producer_gathers(&desc, operand);
            }
        }
        desc.for_addressing(addressing)
    }
}

impl<R, W> Call<R, W> {
    /// Returns the mode of the kernel that computes this call, in the frame of this call.
    pub(crate) fn mode(&self) -> GemmMode {
        GemmMode::for_batch(self.groups.as_ref().map(|groups| groups.axis), self.batch)
    }

    /// Returns the number of Ds. Groups of rows or columns share one D.
    pub(crate) const fn outputs(&self) -> usize {
        match self.groups {
            Some(Groups { axis: Axis::M | Axis::N, .. }) => 1,
            _ => self.batch,
        }
    }

    /// Returns a reader that checks the offsets of groups along `axis` in sequence.
    ///
    /// K is 0 if the epilogue reads no accumulator. The limit of offsets along K is then unknown,
    /// and no element of A or B is read.
    pub(crate) const fn ascent(&self, axis: Axis) -> Ascent {
        let (most, own_d) = match axis {
            Axis::M => (self.m, false),
            Axis::N => (self.n, false),
            Axis::K => (if self.k == 0 { usize::MAX } else { self.k }, true),
        };
        Ascent { number: 0, last: 0, most, own_d }
    }

    /// Checks the number of groups, and that the kernel supports grouped GEMM.
    pub(super) fn check_groups(&self, d: &GemmDesc) -> Result<(), Refusal> {
        let Some(groups) = &self.groups else { return Ok(()) };
        within(Field::Groups, self.batch as u64, 0, i32::MAX as u64)?;
        if let Some(sum) = d.epilogue.sum_along(groups.axis) {
            return Err(Refusal::sum_of_groups(Operand::Epilogue(sum)));
        }
        d.check_groups(groups.axis)
    }
}

impl Problem {
    /// Returns the grouped GEMM with `count` groups of the rows of this problem, each with its own
    /// B.
    #[must_use]
    pub fn grouped(self, count: usize) -> Self {
        let (a, c, d) = (self.a.batched(0), self.c.map(|c| c.batched(0)), self.d.batched(0));
        let operands = self.operands.map(|_, view| view.batched(0));
        let groups = Some(Groups::with_count(Axis::M, count));
        Self { batch: count, groups, a, c, d, operands, ..self }
    }

    /// Returns the grouped GEMM with `count` groups along an axis of the user's GEMM: of rows, as
    /// [`grouped`](Self::grouped), or along K, each with its own C and D. The Ds are one behind
    /// another.
    #[must_use]
    pub fn grouped_along(self, axis: Axis, count: usize) -> Self {
        if axis != Axis::K {
            return self.grouped(count);
        }
        let extents = self.output_extents();
        let (a, b) = (self.a.batched(0), self.b.batched(0));
        let (c, d) =
            (self.c.map(|c| c.one_behind_another(extents)), self.d.one_behind_another(extents));
        let operands = self.operands.map(|operand, view| match operand.side() {
            _ if operand.is_reduction() || operand.is_scalar() => {
                View::reduction(view.memory, operand, extents)
            }
            Some(_) => view.batched(0),
            None => view.one_behind_another(extents),
        });
        let groups = Some(Groups::with_count(Axis::K, count));
        Self { batch: count, groups, a, b, c, d, operands, ..self }
    }

    /// Returns the address of the group offsets, or of the records of an array. The records follow
    /// the partials in the workspace. Other kernels do not read the address.
    pub(crate) fn records(&self) -> u64 {
        match (&self.groups, &self.workspace) {
            (Some(groups), _) => groups.offsets.memory.address,
            (None, Some(partials)) => partials.address + partials.length as u64,
            (None, None) => 0,
        }
    }

    /// Returns the work of this problem, as [`Work::new`] does. Group offsets may be unknown, so a
    /// grouped GEMM assumes the largest possible number of rectangles.
    pub fn work(
        &self,
        kinds: (WorkKind, SwizzleKind, u32),
        (tile, cluster, group_step): (Mnk, Mn, u32),
        tiles_k: u32,
        resident: u32,
    ) -> Result<Work, Refusal> {
        let (mut extents, batch) = ((self.m, self.n), self.outputs());
        if let Some(axis) = self.mode().groups_of_d() {
            let lines = if matches!(axis, Axis::N) { &mut extents.1 } else { &mut extents.0 };
            let of_rectangle = lines_of_rectangle(axis, tile, cluster);
            *lines = group_rectangles(*lines, self.batch, of_rectangle, group_step)
                .saturating_mul(of_rectangle as usize);
        }
        Work::new(kinds, (tile, cluster), (extents, batch, tiles_k), resident)
    }
}

/// Index of a group, and its lines along the axis of the groups.
pub(crate) type Group = (usize, Range<usize>);

/// Checked reader of group offsets, which must not descend.
pub(crate) struct Ascent {
    number: u32,
    last: usize,
    /// Number of lines.
    most: usize,
    /// Whether each group has its own D, so that an empty group has a result.
    own_d: bool,
}

impl Ascent {
    /// Returns the group that ends at the next offset, or `None` if the group has no element of D.
    ///
    /// # Errors
    /// [`Refusal`] if the offset descends or exceeds the lines.
    pub fn group(&mut self, offset: u32) -> Result<Option<Group>, Refusal> {
        let (number, first, end) = (self.number, self.last, offset as usize);
        within(Field::GroupOffset(number), end as u64, first as u64, self.most as u64)?;
        (self.number, self.last) = (number + 1, end);
        let has_result = number > 0 && (end > first || self.own_d);
        Ok(has_result.then(|| (number as usize - 1, first..end)))
    }
}

impl HostCall<'_> {
    /// Returns the groups of this call that have an element of D.
    ///
    /// # Errors
    /// [`Refusal`] for the first offset that descends or exceeds the lines.
    pub(crate) fn groups(&self) -> Result<Option<Vec<Group>>, Refusal> {
        let Some(groups) = &self.groups else { return Ok(None) };
        let (words, _) = groups.offsets.memory.bytes().as_chunks::<4>();
        let mut ascent = self.ascent(groups.axis);
        words
            .iter()
            .filter_map(|word| ascent.group(u32::from_ne_bytes(*word)).transpose())
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// Returns the GEMM of one group.
    pub(crate) fn group(&mut self, (number, lines): Group) -> HostCall<'_> {
        let [mut rows, mut columns, mut depth] = [0..self.m, 0..self.n, 0..self.k];
        match self.mode().groups() {
            Some(Axis::N) => columns = lines,
            Some(Axis::K) => depth = lines.start.min(self.k)..lines.end.min(self.k),
            _ => rows = lines,
        }
        self.sub_space(number, [rows, columns, depth])
    }
}

/// Groups of a problem without data.
impl Groups<Elements> {
    /// Creates `count` groups.
    pub const fn with_count(axis: Axis, count: usize) -> Self {
        Self::new(axis, Elements::new(count + 1))
    }

    /// Returns the number of groups.
    pub(crate) const fn count(&self) -> usize {
        self.offsets.memory.length.saturating_sub(1)
    }
}
