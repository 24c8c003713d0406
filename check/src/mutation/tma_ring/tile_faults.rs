//! Named faults of warp-specialized programs with data: their maps, numbers, and schedules.

use super::ring_faults::{RING_FAULTS, faults};
use crate::{
    mutation::{Edit, NamedFault, mutate, redirect, revalue},
    program::{RingProgram, ThreadMaps, WarpSpecializedProgram, accumulators},
};
use falchion::{
    internals::{
        index::{Coord, IndexMap, at},
        schedule::{
            RoleStep::{self, *},
            Schedule,
        },
    },
    threadblock::{SwizzleMode, Unit},
    warp::warpgroup::FragmentRows,
};
use std::sync::Arc;

/// Property that a program must have for a fault.
#[derive(Clone, Copy, PartialEq)]
pub enum TileNeeds {
    /// No property.
    Nothing,
    /// CTAs of a cluster share an operand.
    Cluster,
    /// Tensor cores multiply.
    Tensor,
    /// A CTA has several consumers.
    SeveralConsumers,
    /// A consumer stores several subtiles.
    SeveralSubtiles,
    /// TMA stores D.
    StoredByTma,
    /// Threads store D.
    StoredByThreads,
    /// The operands are contiguous along M and N.
    AlongMn,
    /// Descriptors state the addresses of A.
    Described,
    /// A comes from registers.
    Fragments,
    /// C comes through the staging buffers.
    Fetched,
    /// Several subtiles of C come through the staging buffers.
    SeveralFetched,
    /// No fetch of C also waits for the stores.
    StoresAlone,
    /// D is column-major for the kernel, and A is in shared memory.
    Columns,
    /// D is column-major for the kernel, and C comes through the staging buffers.
    FetchedColumns,
    /// Threads multiply.
    Threads,
    /// Threads multiply, and CTAs of a cluster share an operand.
    ThreadsInCluster,
    /// Threads of several consumers read each stage.
    ThreadsTogether,
}

impl TileNeeds {
    /// Returns whether a program has the property.
    pub fn has(self, program: &WarpSpecializedProgram) -> bool {
        let (d, ring) = (&program.desc, &program.components.ring);
        let tensor = program.threads.is_none();
        let row_bytes = d.output.access * d.output.element.bytes_of(1);
        let columns = !d.frame.d_order().is_row() && !d.a_from_registers();
        match self {
            Self::Nothing => true,
            Self::Cluster => ring.multicast.is_some(),
            Self::Threads => !tensor,
            Self::ThreadsInCluster => !tensor && ring.multicast.is_some(),
            Self::ThreadsTogether => !tensor && ring.readers() > 1,
            _ if !tensor => false,
            Self::Tensor => true,
            Self::SeveralConsumers => ring.consumers > 1,
            Self::SeveralSubtiles => program.ring.subtiles > 1,
            Self::StoredByTma => row_bytes == 16,
            Self::StoredByThreads => row_bytes < 16,
            Self::Described => !d.a_from_registers(),
            Self::Fragments => d.a_from_registers(),
            Self::Fetched => ring.source,
            Self::SeveralFetched => ring.source && program.ring.subtiles > 1,
            Self::StoresAlone => !ring.source || program.ring.subtiles > ring.staging_buffers,
            Self::Columns => columns,
            Self::FetchedColumns => columns && ring.source,
            Self::AlongMn => {
                let along_mn = !d.operands[0].layout.is_row() && d.operands[1].layout.is_row();
                along_mn && d.threadblock().n > 64
            }
        }
    }
}

/// Faults of [`RING_FAULTS`] that are also applied to whole programs.
const OF_RING: [(&str, TileNeeds); 18] = [
    ("the producer's phase is inverted", TileNeeds::Tensor),
    ("the consumers' phase is inverted", TileNeeds::Tensor),
    ("the consumers' phase never changes", TileNeeds::Tensor),
    ("consumers begin at the second stage", TileNeeds::Tensor),
    ("a stage is released one tile early", TileNeeds::Tensor),
    ("a full barrier waits for A only", TileNeeds::Nothing),
    ("empty barriers wait for one arrival fewer", TileNeeds::Nothing),
    ("half of C's bytes are announced", TileNeeds::Fetched),
    ("all fragments are loaded into one set of registers", TileNeeds::Fragments),
    ("all CTAs copy share 0", TileNeeds::Cluster),
    ("each CTA copies its share only to itself", TileNeeds::Cluster),
    ("warps arrive at their own CTA twice", TileNeeds::Cluster),
    ("a stage is released before it is multiplied", TileNeeds::Threads),
    ("a stage is released before the lanes synchronize", TileNeeds::Threads),
    ("threads wait for a full stage once per tile of D", TileNeeds::Threads),
    ("threads store before they multiply", TileNeeds::Threads),
    ("threads store twice", TileNeeds::Threads),
    ("the producer waits only for the first empty stage", TileNeeds::Tensor),
];

/// Returns the faults of a ring that are applied to whole programs.
///
/// # Panics
/// If a name is not in [`RING_FAULTS`].
pub fn ring_faults_of_tiles() -> Vec<NamedFault<RingProgram, TileNeeds>> {
    let fault = |(name, needs)| {
        let fault = RING_FAULTS.iter().find(|fault| fault.0 == name).expect("a fault of the ring");
        (name, needs, fault.2)
    };
    OF_RING.map(fault).into()
}

/// Returns the maps of threads that multiply.
fn maps(p: &mut WarpSpecializedProgram) -> &mut ThreadMaps {
    p.threads.as_mut().expect("threads multiply")
}

fn consumer(p: &mut WarpSpecializedProgram) -> &mut Schedule<RoleStep> {
    &mut p.ring.roles.consumer
}

/// Returns the byte of a staged element without a swizzle.
fn unswizzled(p: &WarpSpecializedProgram) -> impl Fn(&dyn IndexMap, Coord) -> Option<u32> + use<> {
    let (row, element) = (p.components.ring.staging_bytes / 64, p.desc.output.element.bytes_of(1));
    move |_, point| Some(point.row * row + point.column * element)
}

/// Transposes each 8 x 8 matrix of a subtile.
fn untransposed(row: u32, column: u32) -> (u32, u32) {
    (row / 8 * 8 + column % 8, column / 8 * 8 + row % 8)
}

/// Replaces the work units of a program's CTAs.
macro_rules! units {
    ($p:ident, |$work:ident, $cluster:ident, $rank:ident, $i:ident| $unit:expr) => {
        $p.units = Arc::new(|$work, $cluster, $rank, $i| $unit)
    };
}

faults! {
    /// Faults that show in D, or that the checked machine reports.
    TILE_FAULTS of WarpSpecializedProgram, TileNeeds;
    "stages are never released", Nothing, |p| consumer(p).body.drop_like(Release { behind: 0 });
    "the epilogue does not wait for the products", Tensor, |p|
        consumer(p).tail.drop_like(AwaitProducts { pending: 0 });
    "the proxy is not fenced", Tensor, |p| consumer(p).epilogue.drop_like(FenceProxy);
    "accumulators are not fenced", Tensor, |p| consumer(p).body.drop_like(FenceOperands);
    "barriers are not fenced", Tensor, |p| p.ring.roles.setup.opening.drop_like(FenceBarrierInit);
    "warps do not synchronize around staging", Tensor, |p| consumer(p).epilogue.drop_like(Meet);
    "the epilogue does not wait for stores", StoresAlone, |p|
        consumer(p).epilogue.drop_like(AwaitStores { pending: 0 });
    "the producer does not wait for empty stages", Tensor, |p| p.ring.roles.producer.body.drop_like(AwaitEmpty);
    "a CTA exits before the other CTA's arrivals", Cluster, |p|
        p.ring.roles.producer.closing.drop_like(Drain);
    "the epilogue does not wait for C", Fetched, |p| consumer(p).epilogue.drop_like(AwaitSource);
    "C is not fetched", Fetched, |p| {
        for steps in [&mut p.ring.roles.consumer.prologue, &mut p.ring.roles.consumer.epilogue] {
            steps.drop_like(FetchSource { subtile: 0 });
            steps.drop_like(ExpectSource);
        }
    };
    "every fetch loads C from the first subtile", SeveralFetched, |p|
        redirect(&mut p.fetch.subtile, |_, _| (0, 0));
    "C is fetched without a swizzle", Fetched, |p| p.fetch.swizzle = SwizzleMode::None;
    "threads read C without a swizzle", Fetched, |p| {
        let place = unswizzled(p);
        mutate(&mut p.fetch.staging, place);
    };
    "threads read C one column to the right", Fetched, |p| {
        let columns = p.fetch.staging.domain().column;
        redirect(&mut p.fetch.staging, move |row, column| (row, (column + 1) % columns));
    };
    "A is copied with the next narrower swizzle", Tensor, |p|
        p.operands[0].copy_swizzle = SwizzleMode::Bytes64;
    "B is copied without a swizzle", Tensor, |p| p.operands[1].copy_swizzle = SwizzleMode::None;
    "descriptors of A state the next narrower swizzle", Described, |p|
        p.operands[0].swizzle = SwizzleMode::Bytes64;
    "descriptors of B state no swizzle", Tensor, |p| p.operands[1].swizzle = SwizzleMode::None;
    "the stride of A's descriptors is halved", Described, |p| p.operands[0].stride /= 2;
    "the stride of B's descriptors is doubled", Tensor, |p| p.operands[1].stride *= 2;
    "the leading byte offset of B's descriptors is halved", AlongMn, |p| p.operands[1].leading /= 2;
    "every step reads the first 32 bytes of K", Described, |p|
        redirect(&mut p.operands[0].start, |row, _| (row, 0));
    "every step loads the first 32 bytes of K", Fragments, |p| {
        let step = p.desc.operands[0].stored.elements_in(16);
        redirect(&mut p.operands[0].fragments, move |row, column| (row, column % step));
    };
    "the upper and the lower rows of A are swapped", Fragments, |p| {
        let packed = p.desc.operands[0].stored.elements_in(4);
        redirect(&mut p.operands[0].fragments, move |row, column| (row, column ^ packed));
    };
    "neighboring pairs of k of A are swapped", Fragments, |p| {
        let further = if p.desc.operands[0].stored.bytes_of(1) == 1 { 1 } else { 2 };
        redirect(&mut p.operands[0].fragments, move |row, column| (row, column ^ further));
    };
    "every warp loads the first warp's rows", Fragments, |p|
        redirect(&mut p.operands[0].fragments, |row, column| (row / 128 * 128 + row % 32, column));
    "accumulators are mapped as if A came from shared memory", Fragments, |p| {
        let ordinary = accumulators(&p.components, FragmentRows::Ordinary);
        mutate(&mut p.accumulator, move |_, point| ordinary.at(point));
    };
    "steps of B advance by half", Tensor, |p| mutate(&mut p.operands[1].start, |map, point| {
        let first = map.at(at(point.row, 0))?;
        Some(first + (map.at(point)? - first) / 2)
    });
    "every instruction reads the first rows of A", SeveralConsumers, |p| {
        redirect(&mut p.operands[0].fragments, |row, column| (row % 128, column));
        redirect(&mut p.operands[0].start, |_, column| (0, column));
    };
    "boxes of A begin eight rows too late", Tensor, |p| revalue(&mut p.operands[0].corner, |x| x + 8);
    "every CTA loads the first share", Cluster, |p| for operand in &mut p.operands {
        redirect(&mut operand.corner, |_, column| (0, column));
    };
    "boxes of B are stored 1024 bytes too far", Nothing, |p|
        revalue(&mut p.operands[1].landing, |x| x + 1024);
    "boxes of A have half their rows", Nothing, |p| p.operands[0].box_mn /= 2;
    "K advances by half a tile", Nothing, |p| p.operands[1].tile_k /= 2;
    "rows of accumulators are off by eight", Tensor, |p| {
        let n = p.desc.instruction().n;
        revalue(&mut p.accumulator, move |x| ((x / n) ^ 8) * n + x % n);
    };
    "neighboring accumulators are swapped", Tensor, |p|
        redirect(&mut p.accumulator, |row, column| (row, column ^ 1));
    "two accumulators are read as one", Tensor, |p|
        redirect(&mut p.accumulator, |row, column| (row, column & !1));
    "subtiles are staged without a swizzle", Tensor, |p| {
        let place = unswizzled(p);
        mutate(&mut p.staging, place);
    };
    "all of a subtile is staged in one row", Tensor, |p|
        redirect(&mut p.staging, |_, column| (0, column));
    "8 x 8 matrices of a column-major D are staged untransposed", Columns, |p|
        redirect(&mut p.staging, untransposed);
    "8 x 8 matrices of a column-major C are read untransposed", FetchedColumns, |p|
        redirect(&mut p.fetch.staging, untransposed);
    "the upper and the lower rows of a column-major D are swapped", Columns, |p|
        redirect(&mut p.staging, |row, column| (row ^ 8, column));
    "neighboring columns of a column-major D are swapped", Columns, |p|
        redirect(&mut p.staging, |row, column| (row, column ^ 1));
    "TMA stores subtiles without a swizzle", StoredByTma, |p| p.store.swizzle = SwizzleMode::None;
    "threads read subtiles without a swizzle", StoredByThreads, |p| {
        let place = unswizzled(p);
        mutate(&mut p.store.staging, place);
    };
    "subtiles take their accumulators in reverse order", SeveralSubtiles, |p| {
        let last = p.ring.subtiles - 1;
        redirect(&mut p.subtile, move |_, subtile| (0, last - subtile));
    };
    "subtiles are stored in reverse order", SeveralSubtiles, |p| {
        let last = p.ring.subtiles - 1;
        redirect(&mut p.store.subtile, move |_, subtile| (0, last - subtile));
    };
    "every subtile is stored to the first subtile", SeveralSubtiles, |p|
        redirect(&mut p.store.subtile, |_, _| (0, 0));
    "all consumers compute the first tile", SeveralConsumers, |p|
        redirect(&mut p.consumer_tile, |_, _| (0, 0));
    "all CTAs of a cluster compute the first CTA's tile", Cluster, |p|
        units!(p, |work, cluster, _rank, i| work.unit(cluster, 0, i));
    "a CTA computes its first tile repeatedly", Nothing, |p|
        units!(p, |work, cluster, rank, _i| work.unit(cluster, rank, 0));
    "a CTA advances by the wrong number of clusters", Tensor, |p|
        units!(p, |work, cluster, rank, i| work.unit(cluster + i, rank, 0));
    "rows and columns of tiles are swapped", Tensor, |p|
        units!(p, |work, cluster, rank, i| work.unit(cluster, rank, i).map(|unit| Unit {
            row: unit.column, column: unit.row, ..unit
        }));
    "the scheduler omits a tile", Tensor, |p|
        units!(p, |work, cluster, rank, i|
            work.unit(cluster, rank, i).filter(|unit| (unit.row, unit.column) != (0, 0)));
    "fragments of A are off by one vector", Threads, |p|
        revalue(&mut maps(p).fragment[0], |mn| mn + 4);
    "neighbors in B's fragments are swapped", Threads, |p|
        redirect(&mut maps(p).fragment[1], |row, column| (row, column ^ 1));
    "all lanes read the first lane's columns", Threads, |p|
        redirect(&mut maps(p).fragment[1], |row, column| (row / 32 * 32, column));
    "the second consumer reads the first consumer's rows and columns", ThreadsTogether, |p|
        for fragment in &mut maps(p).fragment {
            redirect(fragment, |row, column| (row % 128, column));
        };
    "k is in reverse order", Threads, |p| {
        let last = maps(p).depth.domain().column - 1;
        redirect(&mut maps(p).depth, move |row, column| (row, last - column));
    };
    "neighboring k are swapped", Threads, |p|
        redirect(&mut maps(p).depth, |row, column| (row, column ^ 1));
    "the first k is multiplied twice, and the second never", Threads, |p|
        redirect(&mut maps(p).depth, |row, column| (row, column & !1));
    "the row pitch of a stage is four elements too large", Threads, |p|
        mutate(&mut maps(p).stage[0], |map, point| Some(map.at(point)? + 16 * point.column));
    "a stage of B is read as if it were contiguous along K", Threads, |p|
        mutate(&mut maps(p).stage[1], |map, point| {
            Some((point.row * map.domain().column + point.column) * 4)
        });
    "the first box is read instead of the second", ThreadsInCluster, |p| {
        let operand = p.components.ring.multicast.expect("a cluster").operand;
        let half = p.components.box_mn(operand);
        let stage = &mut maps(p).stage[operand.index()];
        redirect(stage, move |row, column| (row % half, column));
    };
    "A is copied with a swizzle", Threads, |p| p.operands[0].copy_swizzle = SwizzleMode::Bytes128;
    "boxes of B begin four columns too late", Threads, |p| revalue(&mut p.operands[1].corner, |x| x + 4);
    "the last k of a stage is never multiplied", Threads, |p|
        consumer(p).body.drop_like(MultiplyLast);
    "fragments are loaded from the previous stage", Threads, |p|
        consumer(p).body.move_before(LoadFirst, Advance);
    "the warp barrier is replaced by another multiplication", Threads, |p|
        consumer(p).body.replace_like(MeetWarp, &[MultiplyStage]);
    "neighboring rows of D are swapped", Threads, |p| {
        let n = p.desc.threadblock().n;
        revalue(&mut maps(p).accumulator, move |x| ((x / n) ^ 1) * n + x % n);
    };
    "two accumulators are stored to one address", Threads, |p|
        redirect(&mut maps(p).accumulator, |row, column| (row, column & !1));
    "the second consumer stores to the first consumer's rows", ThreadsTogether, |p|
        redirect(&mut maps(p).accumulator, |row, column| (row % 128, column));
    "an accumulator is not stored", Threads, |p|
        mutate(&mut maps(p).accumulator, |map, point| map.at(point).filter(|_| point.column != 3));
}
