//! Workspace of the split-K and stream-K partials of a call.

use crate::{
    epilogue::sums::SumParts,
    nest::{Cut, GemmDesc},
    numeric::{ElementKind, sum_of},
    operand::{Problem, WORKSPACE_ALIGNMENT, aligned_bytes_at_any_address},
    shape::Mnk,
    threadblock::{AddressRange, MOST_TILES_OF_ONE, Streams, tickets_of},
};

/// Returns a number of bytes, rounded up to a multiple of [`WORKSPACE_ALIGNMENT`].
fn whole(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(WORKSPACE_ALIGNMENT).unwrap_or(u64::MAX)
}

/// Returns the number of cluster-sized rectangles in all Ds, and the number of CTAs in a cluster.
pub(crate) fn rectangles_of(desc: &GemmDesc, extents: (usize, usize), batch: usize) -> (u64, u64) {
    let (tile, cluster) = (desc.threadblock(), desc.cluster());
    let rectangle =
        Mnk { m: tile.m.saturating_mul(cluster.m), n: tile.n.saturating_mul(cluster.n), k: tile.k };
    (
        rectangle.tiles_of(extents).saturating_mul(batch as u64),
        u64::from(cluster.m) * u64::from(cluster.n),
    )
}

/// Workspace of split-K and stream-K partials.
///
/// With split-K, each tile of each D has one slot of accumulators per split-K slice. Slots hold
/// `f32` if the accumulators are `f16`. The tickets follow: counters of the slices that have
/// arrived, for each tile and each group of threads that shares a tile. Slots may hold any values
/// before the launch. The call sets tickets to 0. The parts of an epilogue's sums are last.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Partials {
    /// Device address of the slots. In a problem without addresses, offset in bytes from the first
    /// multiple of [`WORKSPACE_ALIGNMENT`] in the workspace.
    pub first: u64,
    /// Bytes of all slots, a multiple of [`WORKSPACE_ALIGNMENT`].
    slots: u64,
    /// Bytes of all tickets, a multiple of [`WORKSPACE_ALIGNMENT`].
    tickets: u64,
    /// Bytes of the parts of an epilogue's sums, a multiple of [`WORKSPACE_ALIGNMENT`].
    sums: u64,
}

impl Partials {
    /// Returns the partials for a batch of m x n outputs in the kernel's frame. They also suffice
    /// for a kernel with narrower accesses. They are empty without split-K and sums,
    /// and if D has no element. For sizes that a call refuses, the number of bytes may saturate.
    pub fn new(desc: &GemmDesc, extents: (usize, usize), batch: usize) -> Self {
        if desc.streams_k() {
            Self::for_stream_k(desc, extents, batch, desc.most_streams())
                .with_sums(desc, extents, batch)
        } else {
            Self::for_slices(desc, desc.cut_of(), extents, batch)
        }
    }

    /// Returns the partials of a launch, and the number of resident clusters. For stream-K, the
    /// number of clusters is at most the number whose partials fit the workspace of the problem.
    /// That workspace may have been sized for a kernel with wider accesses and other tiles.
    pub fn for_launch(desc: &GemmDesc, problem: &Problem, resident: u32) -> (Self, u32) {
        let (extents, batch) = (problem.multiplied_extents(desc), problem.batch);
        let with_sums = |partials: Self| partials.with_sums(desc, extents, batch);
        if !desc.streams_k() {
            let partials = Self::for_tiles(desc, (desc.cut_of(), 1), extents, batch);
            return (with_sums(partials), resident);
        }
        let given = problem.workspace.map_or(u64::MAX, |workspace| workspace.length as u64);
        let most = resident.min(desc.most_streams());
        let of_clusters = |clusters| with_sums(Self::for_stream_k(desc, extents, batch, clusters));
        let fits = |clusters: &u32| of_clusters(*clusters).bytes() <= given;
        let clusters = (1..=most).rev().find(fits).unwrap_or(1);
        (of_clusters(clusters), clusters)
    }

    /// Returns the partials with room for the parts of sums.
    fn with_sums(self, desc: &GemmDesc, extents: (usize, usize), batch: usize) -> Self {
        let element = desc.output.compute.element();
        let bytes = SumParts::for_outputs(desc, extents, batch)
            .fold(0, |sum: u64, parts| sum.saturating_add(parts.bytes(element)));
        Self { sums: whole(bytes), ..self }
    }

    /// Returns the stream-K partials of at most `most` clusters: one slot per cluster, and one slot
    /// per tile that several clusters may share.
    fn for_stream_k(desc: &GemmDesc, extents: (usize, usize), batch: usize, most: u32) -> Self {
        let (rectangles, blocks) = rectangles_of(desc, extents, batch);
        let tiles = Streams::most(rectangles, most);
        let clusters = if tiles > 0 { u64::from(most) } else { 0 };
        let tickets = tickets_of(most) * desc.sharing();
        Self::for_slots(desc, (tiles + clusters) * blocks, tiles * blocks * u64::from(tickets))
    }

    /// Returns the partials of another split of K. Without sums, they are empty if the slices
    /// belong to one cluster.
    pub(crate) fn for_slices(
        desc: &GemmDesc,
        cut: Cut,
        extents: (usize, usize),
        batch: usize,
    ) -> Self {
        // A kernel with narrower accesses has more tiles. Its slots need no more bytes in total,
        // but each tile needs its tickets.
        let tiles = if desc.has_producer() { 1 } else { MOST_TILES_OF_ONE };
        Self::for_tiles(desc, (cut, tiles), extents, batch).with_sums(desc, extents, batch)
    }

    /// Returns the partials of a split of K, with the tickets of `of_one` tiles per tile. There are
    /// no tickets if a second kernel reduces.
    fn for_tiles(
        desc: &GemmDesc,
        ((slices, way), of_one): (Cut, u32),
        extents: (usize, usize),
        batch: usize,
    ) -> Self {
        if slices <= 1 || desc.cuts_by_cluster() {
            return Self::default();
        }
        let tickets = way.tickets(tickets_of(slices)) * desc.sharing() * of_one;
        let (rectangles, blocks) = rectangles_of(desc, extents, batch);
        let tiles = rectangles.saturating_mul(blocks);
        Self::for_slots(
            desc,
            tiles.saturating_mul(slices.into()),
            tiles.saturating_mul(tickets.into()),
        )
    }

    /// Returns the partials with the given numbers of tile slots and of tickets.
    fn for_slots(desc: &GemmDesc, slots: u64, tickets: u64) -> Self {
        let tile = desc.threadblock();
        let slot =
            sum_of(desc.output.accumulator).matrix_bytes(u64::from(tile.m) * u64::from(tile.n));
        Self {
            first: 0,
            slots: whole(slots.saturating_mul(slot)),
            tickets: whole(ElementKind::I32.matrix_bytes(tickets)),
            sums: 0,
        }
    }

    /// Returns the size in bytes of a workspace at any address that holds only the partials.
    pub(crate) const fn workspace_bytes(&self) -> u64 {
        aligned_bytes_at_any_address(self.bytes())
    }

    /// Returns the total size in bytes.
    pub const fn bytes(&self) -> u64 {
        self.slots.saturating_add(self.tickets).saturating_add(self.sums)
    }

    /// Returns the partials at another address or offset.
    #[must_use]
    pub const fn from(self, first: u64) -> Self {
        Self { first, ..self }
    }

    /// Returns the partials in the workspace of a problem, which holds nothing else. `None` if the
    /// partials are empty.
    pub fn at(self, problem: &Problem) -> Option<Self> {
        let workspace = problem.workspace.filter(|_| self.bytes() > 0)?;
        Some(self.from(workspace.address))
    }

    /// Returns the addresses of the slots: tile by tile, slice by slice. The order in a slot is
    /// [`PartialsMap`](crate::epilogue::tile_store::PartialsMap), or
    /// [`SlotMap`](crate::epilogue::partials::SlotMap) for consumer warpgroups.
    pub const fn slots(&self) -> AddressRange {
        AddressRange { start: self.first, end: self.first.saturating_add(self.slots) }
    }

    /// Returns the addresses of the parts of sums, in the order of
    /// [`EpilogueOperand::SUMS`](crate::shape::EpilogueOperand::SUMS).
    pub(crate) const fn sums(&self) -> AddressRange {
        let start = self.tickets().end;
        AddressRange { start, end: start.saturating_add(self.sums) }
    }

    /// Returns the addresses that the call clears, which are the tickets. `None` without tickets.
    pub(crate) fn cleared(&self) -> Option<AddressRange> {
        Some(self.tickets()).filter(|tickets| tickets.start < tickets.end)
    }

    /// Returns the addresses of the tickets of 32 bits: [`tickets_of`] the slices, per tile and
    /// group of threads.
    pub const fn tickets(&self) -> AddressRange {
        let start = self.slots().end;
        AddressRange { start, end: start.saturating_add(self.tickets) }
    }
}
