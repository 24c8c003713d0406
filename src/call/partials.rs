//! Where the partial accumulators of a call lie, whose K is cut into parts.

use super::{AddressRange, Problem, WORKSPACE_ALIGNMENT, route::wherever_it_begins};
use crate::{
    desc::{Cut, GemmDesc},
    numeric::{ElementKind, sum_of},
    shape::Mnk,
    threadblock::{MOST_TILES_OF_ONE, Streams, tickets_of},
};

/// Rectangles of a cluster's tiles in all Ds, and blocks of a cluster.
pub(super) fn rectangles_of(desc: &GemmDesc, extents: (usize, usize), batch: usize) -> (u64, u64) {
    let (tile, cluster) = (desc.threadblock(), desc.cluster());
    let rectangle =
        Mnk { m: tile.m.saturating_mul(cluster.m), n: tile.n.saturating_mul(cluster.n), k: tile.k };
    (
        rectangle.tiles_of(extents).saturating_mul(batch as u64),
        u64::from(cluster.m) * u64::from(cluster.n),
    )
}

/// The workspace of split-K and of stream-K: for each tile of each D a slot of accumulators for
/// each part of K, of `f32` where those are `f16`; and then the tickets of each tile, in which the
/// parts count themselves, each group of threads that shares the tile for itself. Slots may hold
/// anything before; tickets are cleared by the call.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Partials {
    /// Where they begin: a device address, or, of a call that has none yet, bytes from the first
    /// multiple of [`WORKSPACE_ALIGNMENT`] in the workspace on.
    pub first: u64,
    /// Bytes of all slots, a multiple of [`WORKSPACE_ALIGNMENT`].
    slots: u64,
    /// Bytes of all tickets, a multiple of the same.
    tickets: u64,
}

impl Partials {
    /// Those of a batch of Ds of (m, n), as the kernel sees them, or one of narrower accesses in
    /// its place; of none bytes without split-K, and where D has no element. Of sizes that a call
    /// is refused for, there may be the largest number of bytes.
    pub fn of(desc: &GemmDesc, extents: (usize, usize), batch: usize) -> Self {
        if desc.streams_k() {
            Self::of_streams(desc, extents, batch, desc.most_streams())
        } else {
            Self::of_parts(desc, desc.cut_of(), extents, batch)
        }
    }

    /// Those of a launch, and how many clusters it has on a device that holds so many at once:
    /// where they stream, no more than the problem's workspace has room for, which may have been
    /// counted for a kernel of wider accesses and other tiles.
    pub fn of_launch(desc: &GemmDesc, problem: &Problem, resident: u32) -> (Self, u32) {
        let (extents, batch) = ((problem.m, problem.n), problem.batch);
        if !desc.streams_k() {
            return (Self::of_tiles(desc, (desc.cut_of(), 1), extents, batch), resident);
        }
        let given = problem.workspace.map_or(u64::MAX, |workspace| workspace.length as u64);
        let most = resident.min(desc.most_streams());
        let fits =
            |clusters: &u32| Self::of_streams(desc, extents, batch, *clusters).bytes() <= given;
        let clusters = (1..=most).rev().find(fits).unwrap_or(1);
        (Self::of_streams(desc, extents, batch, clusters), clusters)
    }

    /// Those of streams: slots for the parts of so many clusters at most, and of the tiles that
    /// they stream at most.
    fn of_streams(desc: &GemmDesc, extents: (usize, usize), batch: usize, most: u32) -> Self {
        let (rectangles, blocks) = rectangles_of(desc, extents, batch);
        let tiles = Streams::most(rectangles, most);
        let clusters = if tiles > 0 { u64::from(most) } else { 0 };
        let tickets = tickets_of(most) * desc.sharing();
        Self::of_slots(desc, (tiles + clusters) * blocks, tiles * blocks * u64::from(tickets))
    }

    /// The same of another cut than the description's; none where parts are a cluster's.
    pub(crate) fn of_parts(
        desc: &GemmDesc,
        cut: Cut,
        extents: (usize, usize),
        batch: usize,
    ) -> Self {
        // Tiles of a kernel in its place have fewer accumulators together, but tickets each.
        let tiles = if desc.warp_specialized().is_some() { 1 } else { MOST_TILES_OF_ONE };
        Self::of_tiles(desc, (cut, tiles), extents, batch)
    }

    /// Those of a cut, with tickets for so many tiles in the place of one: none where a second
    /// kernel adds.
    fn of_tiles(
        desc: &GemmDesc,
        ((parts, way), of_one): (Cut, u32),
        extents: (usize, usize),
        batch: usize,
    ) -> Self {
        if parts <= 1 || desc.cuts_by_cluster() {
            return Self::default();
        }
        let tickets = way.tickets(tickets_of(parts)) * desc.sharing() * of_one;
        let (rectangles, blocks) = rectangles_of(desc, extents, batch);
        let tiles = rectangles.saturating_mul(blocks);
        Self::of_slots(
            desc,
            tiles.saturating_mul(parts.into()),
            tiles.saturating_mul(tickets.into()),
        )
    }

    /// So many slots of a block's tile each, and so many tickets.
    fn of_slots(desc: &GemmDesc, slots: u64, tickets: u64) -> Self {
        let tile = desc.threadblock();
        let slot =
            sum_of(desc.class.accumulator).matrix_bytes(u64::from(tile.m) * u64::from(tile.n));
        let whole =
            |bytes: u64| bytes.checked_next_multiple_of(WORKSPACE_ALIGNMENT).unwrap_or(u64::MAX);
        Self {
            first: 0,
            slots: whole(slots.saturating_mul(slot)),
            tickets: whole(ElementKind::I32.matrix_bytes(tickets)),
        }
    }

    /// Bytes of a workspace for them alone, which is enough wherever it begins.
    pub(crate) const fn workspace_bytes(&self) -> u64 {
        wherever_it_begins(self.bytes())
    }

    /// All bytes.
    pub const fn bytes(&self) -> u64 {
        self.slots.saturating_add(self.tickets)
    }

    /// The same from so many bytes on.
    #[must_use]
    pub const fn from(self, first: u64) -> Self {
        Self { first, ..self }
    }

    /// The same in the workspace of a call, which is theirs alone; `None` where there are none.
    pub fn at(self, problem: &Problem) -> Option<Self> {
        let workspace = problem.workspace.filter(|_| self.bytes() > 0)?;
        Some(self.from(workspace.address))
    }

    /// Where the slots lie: tile after tile, part after part, each thread's accumulators as
    /// [`PartialsMap`](crate::epilogue::tile_store::PartialsMap) has them, or, of consumers,
    /// [`SlotMap`](crate::epilogue::partials::SlotMap).
    pub const fn slots(&self) -> AddressRange {
        AddressRange { start: self.first, end: self.first.saturating_add(self.slots) }
    }

    /// What the call clears: the tickets, where there are any.
    pub(crate) fn cleared(&self) -> Option<AddressRange> {
        Some(self.tickets()).filter(|tickets| tickets.start < tickets.end)
    }

    /// Where the tickets lie: 32 bits each, [`tickets_of`] the parts for each tile and group.
    pub const fn tickets(&self) -> AddressRange {
        let start = self.slots().end;
        AddressRange { start, end: start.saturating_add(self.tickets) }
    }
}
