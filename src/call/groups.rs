//! Groups: the rows of A and D, or the columns of B and D, of several products one behind another.

use super::{Call, Elements, HostCall, Problem, View};
use crate::{
    desc::{GemmDesc, GemmMode},
    numeric::ElementKind,
    operand::Axis,
    refusal::{Field, Refusal, rules::within},
    shape::{Mn, Mnk},
    threadblock::{SwizzleKind, Work, WorkKind, group_rectangles, lines_of_rectangle},
};
use core::ops::Range;

/// The lines of D along `axis` in groups, one behind another: group `i` is those from offset `i` to
/// offset `i + 1`, and is multiplied by matrix `i` of the batch on the other side. Lines of no
/// group are left alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Groups<R> {
    /// M for rows of A and D, N for columns of B and D.
    pub axis: Axis,
    /// Offsets of 32 bits without a sign, one more than groups, as a column.
    pub offsets: View<R>,
    /// Who reads them.
    pub read: ReadOffsets,
}

/// Who reads the offsets of groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadOffsets {
    /// The kernel alone, where they lie.
    InPlace,
    /// It, and before anything is enqueued the call, which reads them back from a device and checks
    /// them.
    Checked,
    /// The launch, which takes them by value from host memory and has them written to its
    /// workspace.
    ByValue,
}

impl<R> Groups<R> {
    /// Groups by their offsets.
    pub const fn new(axis: Axis, offsets: R) -> Self {
        Self {
            axis,
            offsets: View { memory: offsets, strides: [1, 0], batch_stride: 0 },
            read: ReadOffsets::InPlace,
        }
    }

    pub(super) fn swapped(self) -> Self {
        Self { axis: self.axis.swapped(), ..self }
    }

    /// The same groups by offsets in other memory.
    pub fn with<S>(&self, offsets: S) -> Groups<S> {
        Groups { axis: self.axis, offsets: self.offsets.with(offsets), read: self.read }
    }
}

impl<R, W> Call<R, W> {
    /// What a kernel is of that computes this, in the frame of this call.
    pub(crate) fn mode(&self) -> GemmMode {
        GemmMode::of(self.groups.as_ref().map(|groups| groups.axis), self.batch)
    }

    /// The description of the kernel that computes this call of a user's: one product, a batch, or
    /// groups.
    pub fn kernel_of(&self, desc: GemmDesc) -> GemmDesc {
        self.groups
            .as_ref()
            .map_or(desc.for_batch(self.batch), |groups| desc.for_groups(groups.axis))
    }

    /// How many Ds there are: groups share one.
    pub(super) const fn outputs(&self) -> usize {
        if self.groups.is_some() { 1 } else { self.batch }
    }

    /// Lines of D along the axis of groups.
    const fn lines_of_groups(&self, axis: Axis) -> usize {
        if matches!(axis, Axis::N) { self.n } else { self.m }
    }

    /// What reads the offsets of groups along `axis`, one after another.
    pub(crate) const fn ascent(&self, axis: Axis) -> Ascent {
        Ascent { number: 0, last: 0, most: self.lines_of_groups(axis) }
    }

    /// Whether there are groups, if any, and a kernel of a description computes them.
    pub(super) fn check_groups(&self, d: &GemmDesc) -> Result<(), Refusal> {
        if self.groups.is_none() {
            return Ok(());
        }
        within(Field::Groups, self.batch as u64, 0, i32::MAX as u64)?;
        d.check_groups()
    }
}

impl Problem {
    /// The problem of so many groups of this one's rows, each with a B of its own.
    #[must_use]
    pub fn grouped(self, count: usize) -> Self {
        let (a, c, d) = (self.a.batched(0), self.c.map(|c| c.batched(0)), self.d.batched(0));
        Self { batch: count, groups: Some(Groups::of(Axis::M, count)), a, c, d, ..self }
    }

    /// Bytes of offsets that a launch takes by value.
    pub(super) fn offset_bytes(&self) -> u64 {
        self.groups
            .filter(|groups| groups.by_value())
            .map_or(0, |_| ElementKind::I32.matrix_bytes(self.batch as u64 + 1))
    }

    /// The same problem whose offsets lie at an address, where they were taken by value.
    pub(super) fn with_offsets_at(mut self, address: u64) -> Self {
        if let Some(groups) = self.groups.as_mut().filter(|groups| groups.by_value()) {
            groups.offsets.memory.address = address;
        }
        self
    }

    /// Where the offsets of groups lie; 0 without groups.
    pub(crate) fn offsets(&self) -> u64 {
        self.groups.map_or(0, |groups| groups.offsets.memory.address)
    }

    /// The work of this problem, as [`Work::of`] has it; of groups, whose offsets nobody has looked
    /// at, that of as many rectangles as there may be.
    pub fn work(
        &self,
        kinds: (WorkKind, SwizzleKind, u32),
        (tile, cluster, group_step): (Mnk, Mn, u32),
        tiles_k: u32,
        resident: u32,
    ) -> Result<Work, Refusal> {
        let (mut extents, batch) = ((self.m, self.n), self.outputs());
        if let Some(Groups { axis, .. }) = self.groups {
            let lines = if matches!(axis, Axis::N) { &mut extents.1 } else { &mut extents.0 };
            let of_rectangle = lines_of_rectangle(axis, tile, cluster);
            *lines = group_rectangles(*lines, self.batch, of_rectangle, group_step)
                .saturating_mul(of_rectangle as usize);
        }
        Work::of(kinds, (tile, cluster), (extents, batch, tiles_k), resident)
    }
}

/// A group, by its number, and its lines.
pub(crate) type Group = (usize, Range<usize>);

/// Offsets of groups that have been read, each of which is at least the one before.
pub(crate) struct Ascent {
    number: u32,
    last: usize,
    /// Lines of D.
    most: usize,
}

impl Ascent {
    /// The group that ends at the next offset, unless it is empty.
    ///
    /// # Errors
    /// [`Refusal::OutOfRange`] for one that descends, or leaves D.
    pub fn group(&mut self, offset: u32) -> Result<Option<Group>, Refusal> {
        let (number, first, end) = (self.number, self.last, offset as usize);
        within(Field::GroupOffset(number), end as u64, first as u64, self.most as u64)?;
        (self.number, self.last) = (number + 1, end);
        Ok((number > 0 && end > first).then(|| (number as usize - 1, first..end)))
    }
}

impl HostCall<'_> {
    /// The groups of this call, none of which is empty.
    ///
    /// # Errors
    /// [`Refusal::OutOfRange`] for the first offset that descends, or leaves D.
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

    /// The product of a group.
    pub(crate) fn group(&mut self, (number, lines): Group) -> HostCall<'_> {
        let all = (0..self.m, 0..self.n);
        let (rows, columns) = match self.mode().groups() {
            Some(Axis::N) => (all.0, lines),
            _ => (lines, all.1),
        };
        self.part(number, (rows, columns))
    }
}

/// The offsets of a problem without data: as many as it has groups, and one.
impl Groups<Elements> {
    /// Groups of a problem, so many.
    pub const fn of(axis: Axis, count: usize) -> Self {
        Self::new(axis, Elements::of(count + 1))
    }

    /// Whether a launch takes the offsets by value.
    const fn by_value(&self) -> bool {
        matches!(self.read, ReadOffsets::ByValue)
    }

    /// How many there are.
    pub(crate) const fn count(&self) -> usize {
        self.offsets.memory.length.saturating_sub(1)
    }
}
