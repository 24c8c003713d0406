//! Named faults of a ring and its roles: counts, phases, stages, ranks, bytes, and orders.

use crate::{
    mutation::{Edit, NamedFault, mutate, phase, redirect, revalue, stage, weaken},
    program::RingProgram,
};
use falchion::internals::{
    schedule::{
        RoleStep::{self, *},
        Schedule,
    },
    shape::OperandKind,
};

/// Property that a program must have for a fault.
#[derive(Clone, Copy, PartialEq)]
pub enum RingNeeds {
    /// No property.
    Nothing,
    /// CTAs of a cluster share an operand.
    Cluster,
    /// TMA copies both operands.
    CopiesBoth,
    /// Two consumers read each stage.
    TwoReaders,
    /// Consumers alternate.
    Turns,
    /// The roles change their registers.
    Registers,
    /// Accumulators are promoted.
    Promotes,
    /// Several instruction tiles per stage are promoted.
    SeveralTiles,
    /// Warpgroups multiply.
    Warpgroups,
    /// Threads multiply.
    Threads,
    /// C comes through the staging buffers.
    Source,
    /// The epilogue has vectors.
    Vectors,
    /// A comes from registers.
    Fragments,
    /// A comes from several sets of registers.
    TwoSets,
    /// Split-K slices are reduced through the workspace.
    Split,
    /// A CTA gathers the split-K slices of its cluster.
    Gathers,
}

impl RingNeeds {
    /// Returns whether a program has the property.
    pub fn has(self, program: &RingProgram) -> bool {
        match self {
            Self::Nothing => true,
            Self::Cluster => program.ring.multicast.is_some(),
            Self::CopiesBoth => !program.ring.gathers(),
            Self::TwoReaders => program.ring.readers() == 2,
            Self::Turns => program.ring.pingpong,
            Self::Promotes => program.promoted_tiles > 0,
            Self::SeveralTiles => program.promoted_tiles > 1,
            Self::Warpgroups => !program.by_threads,
            Self::Threads => program.by_threads,
            Self::Source => program.ring.source,
            Self::Vectors => program.ring.vector_bytes > 0,
            Self::Fragments => program.fragment_sets > 0,
            Self::Split => program.split_k && program.ring.slices.is_none(),
            Self::Gathers => program.ring.slices.is_some(),
            Self::TwoSets => program.fragment_sets > 1,
            Self::Registers => !program.roles.producer.opening.is_empty(),
        }
    }
}

/// Steps of a kind, with any arguments.
const RELEASE: RoleStep = Release { behind: 0 };
const AWAIT_PRODUCTS: RoleStep = AwaitProducts { pending: 0 };
const AWAIT_STORES: RoleStep = AwaitStores { pending: 0 };
const FETCH: RoleStep = FetchSource { subtile: 0 };
const STORE: RoleStep = StoreTensor { subtile: 0 };
const COPY: RoleStep = CopyTensor { operand: OperandKind::A };
const TILE: RoleStep = MultiplyInstructionTile { tile: 0 };
const PROMOTE: RoleStep = Promote { tile: 0 };

fn prologue(p: &mut RingProgram) -> &mut Vec<RoleStep> {
    &mut p.roles.consumer.prologue
}

fn body(p: &mut RingProgram) -> &mut Vec<RoleStep> {
    &mut p.roles.consumer.body
}

fn tail(p: &mut RingProgram) -> &mut Vec<RoleStep> {
    &mut p.roles.consumer.tail
}

fn epilogue(p: &mut RingProgram) -> &mut Vec<RoleStep> {
    &mut p.roles.consumer.epilogue
}

/// Removes the steps of a kind from the consumers' body, and returns the consumers' schedule.
fn take(p: &mut RingProgram, step: RoleStep) -> &mut Schedule<RoleStep> {
    body(p).drop_like(step);
    &mut p.roles.consumer
}

/// Defines a table of faults: name, property, and change.
macro_rules! faults {
    ($(#[$doc:meta])* $NAME:ident of $Program:ty, $Needs:ident;
     $($name:literal, $needs:ident, |$p:ident| $change:expr;)*) => {
        $(#[$doc])*
        pub const $NAME: &[NamedFault<$Program, $Needs>] =
            &[$(($name, $Needs::$needs, |$p| { $change; })),*];
    };
}
pub(super) use faults;

faults! {
    /// Faults that the checked machine finds without data.
    RING_FAULTS of RingProgram, RingNeeds;
    "the producer's phase is inverted", Nothing, |p| phase(&mut p.producer_position, |x| x ^ 1);
    "the consumers' phase is inverted", Nothing, |p| phase(&mut p.consumer_position, |x| x ^ 1);
    "the producer's phase never changes", Nothing, |p| phase(&mut p.producer_position, |_| 0);
    "the consumers' phase never changes", Nothing, |p| phase(&mut p.consumer_position, |_| 0);
    "the consumers' phase changes a tile too early", Nothing, |p| {
        let tiles = p.consumer_position.domain().column;
        redirect(&mut p.consumer_position, move |row, tile| (row, (tile + row) % tiles));
    };
    "the producer's phase changes a tile too late", Nothing, |p| {
        let tiles = p.producer_position.domain().column;
        let late = move |row, tile| (row, (tile + (tiles - 1) * row) % tiles);
        redirect(&mut p.producer_position, late);
    };
    "consumers begin at the second stage", Nothing, |p| {
        let tiles = p.consumer_position.domain().column;
        redirect(&mut p.consumer_position, move |row, tile| (row, (tile + 1) % tiles));
    };
    "the producer fills the stages in reverse order", Nothing, |p| {
        let last = p.ring.stages - 1;
        stage(&mut p.producer_position, move |x| if last > 1 { last - x } else { x ^ 1 });
    };
    "producer and consumers omit the last stage", Nothing, |p| {
        // The phase changes as if the stage existed.
        let last = p.ring.stages - 2;
        stage(&mut p.producer_position, move |x| x.min(last));
        stage(&mut p.consumer_position, move |x| x.min(last));
    };
    "the producer has no stage for tile 1", Nothing, |p| {
        mutate(&mut p.producer_position, |map, point| map.at(point).filter(|_| point.column != 1));
    };
    "the consumers' stages exceed the ring", Nothing, |p|
        stage(&mut p.consumer_position, |x| x + 1);
    "full barriers wait for two arrivals", Nothing, |p| p.full_arrivals = 2;
    "empty barriers wait for one arrival fewer", Nothing, |p| p.empty_arrivals -= 1;
    "empty barriers wait for one arrival more", Nothing, |p| p.empty_arrivals += 1;
    "empty barriers wait for a warpgroup's arrivals", TwoReaders, |p| p.empty_arrivals = 4;
    "a ping-pong consumer skips the wrong tiles", Turns, |p|
        *prologue(p) = vec![SkipLater, AwaitTurn];
    "a consumer passes its turn before it multiplies", Turns, |p| {
        tail(p).drop_like(PassTurn);
        prologue(p).push(PassTurn);
    };
    "empty barriers count all consumers although one reads", Turns, |p| p.empty_arrivals *= 2;
    "empty barriers do not count the other CTA", Cluster, |p| p.empty_arrivals /= 2;
    "a full barrier waits for A only", CopiesBoth, |p| p.expect_bytes = p.ring.stage_bytes[0];
    "a full barrier waits for 16 bytes too many", CopiesBoth, |p| p.expect_bytes += 16;
    "a full barrier waits for this CTA's share only", Cluster, |p|
        p.expect_bytes = OperandKind::BOTH
            .iter()
            .filter(|operand| !p.ring.gathered[operand.index()])
            .map(|operand| p.copy_bytes[operand.index()])
            .sum();
    "copies of B have half of their bytes", CopiesBoth, |p| p.copy_bytes[1] /= 2;
    "half of C's bytes are announced", Source, |p| p.source_bytes /= 2;
    "C is announced before the buffers have been read", Source, |p| {
        let roles = &mut p.roles.consumer;
        let steps = if p.split_k { &mut roles.epilogue } else { &mut roles.prologue };
        steps.drop_like(ExpectSource);
        // After the last fetch, and before the turn.
        let last = steps.iter().rposition(|step| matches!(step, FetchSource { .. }));
        steps.insert(last.expect("a fetch") + 1, ExpectSource);
    };
    "every fetch loads subtile 0 of C", Source, |p| {
        prologue(p).replace_like(FETCH, &[FETCH]);
        epilogue(p).replace_like(FETCH, &[FETCH]);
    };
    "warps arrive at their own CTA twice", Cluster, |p|
        mutate(&mut p.released, |_, point| Some(point.row));
    "warps arrive at the other CTA twice", Cluster, |p|
        mutate(&mut p.released, |_, point| Some(1 - point.row));
    "warps arrive at CTA 0 twice", Cluster, |p| revalue(&mut p.released, |_| 0);
    "warps arrive at CTA 2", Cluster, |p| revalue(&mut p.released, |_| 2);
    "the second arrival has no rank", Cluster, |p| {
        mutate(&mut p.released, |map, point| map.at(point).filter(|_| point.column == 0));
    };
    "all CTAs copy share 0", Cluster, |p| mutate(&mut p.share, |_, _| Some(0));
    "each CTA copies its share only to itself", Cluster, |p| {
        mutate(&mut p.destinations, |_, point| Some(point.row));
    };
    "shared copies go only to the other CTA", Cluster, |p| {
        mutate(&mut p.destinations, |_, point| Some(1 - point.row));
    };
    "shared copies go only to CTA 0", Cluster, |p| mutate(&mut p.destinations, |_, _| Some(0));
    "a stage is released one tile early", Warpgroups, |p| weaken(body(p), AWAIT_PRODUCTS);
    "stages are released one tile late, and the last one never", Nothing, |p| weaken(body(p), RELEASE);
    "a stage is released twice", Nothing, |p| body(p).repeat_like(RELEASE);
    "a stage is released before it is multiplied", Nothing, |p| body(p).move_to(1, RELEASE);
    "the producer arrives twice", CopiesBoth, |p| p.roles.producer.body.repeat_like(Expect);
    "the producer copies A instead of B", CopiesBoth, |p|
        p.roles.producer.body.replace_like(COPY, &[COPY]);
    "the producer waits only for the first empty stage", Nothing, |p| {
        p.roles.producer.body.drop_like(AwaitEmpty);
        p.roles.producer.prologue.push(AwaitEmpty);
    };
    "the producer drains before it fills the ring", Cluster, |p| {
        p.roles.producer.closing.clear();
        p.roles.producer.opening.push(Drain);
    };
    "threads wait for a full stage once per tile of D", Threads, |p| body(p).drop_like(AwaitNext);
    "threads read the first fragments once per tile of D", Threads, |p| body(p).drop_like(LoadFirst);
    "the last k is multiplied once per tile of D", Threads, |p|
        take(p, MultiplyLast).tail.insert(0, MultiplyLast);
    "the last k is multiplied before the others", Threads, |p| body(p).move_to(0, MultiplyLast);
    "consumers wait for a full stage once per tile of D", Warpgroups, |p|
        take(p, AwaitFull).prologue.push(AwaitFull);
    "all fragments are loaded into one set of registers", TwoSets, |p| p.fragment_sets = 1;
    "A is loaded into registers once per tile of D", Fragments, |p| {
        take(p, LoadFragments).prologue.extend([AwaitFull, LoadFragments]);
    };
    "A is loaded into registers before its stage is full", Fragments, |p|
        body(p).move_to(0, LoadFragments);
    "A is loaded into registers after it is multiplied", Fragments, |p| {
        body(p).move_before(LoadFragments, CommitProducts);
    };
    "there are no registers for A", Fragments, |p| p.fragment_sets = 0;
    "a tile is promoted before its products are complete", Promotes, |p| {
        let body = body(p);
        let promotions = (1..body.len()).filter(|&i| matches!(body[i], Promote { .. }));
        promotions.collect::<Vec<_>>().into_iter().for_each(|i| body.swap(i - 1, i));
    };
    "a tile is promoted twice", Promotes, |p| body(p).repeat_like(PROMOTE);
    "the last tile is never promoted", Promotes, |p| {
        let last = Promote { tile: p.promoted_tiles as u8 - 1 };
        body(p).retain(|step| *step != last);
    };
    "the last tile is promoted once per tile of D", Promotes, |p| {
        let last = Promote { tile: p.promoted_tiles as u8 - 1 };
        body(p).retain(|step| *step != last);
        tail(p).insert(0, last);
    };
    "every step promotes tile 0", SeveralTiles, |p| body(p).replace_like(PROMOTE, &[PROMOTE]);
    "every step multiplies and promotes tile 0", SeveralTiles, |p| {
        body(p).replace_like(PROMOTE, &[PROMOTE]);
        body(p).replace_like(TILE, &[TILE]);
    };
    "the last tile is omitted", SeveralTiles, |p| {
        let tile = p.promoted_tiles as u8 - 1;
        body(p).retain(|step| ![MultiplyInstructionTile { tile }, Promote { tile }].contains(step));
    };
    "all tiles are multiplied before the first is promoted", SeveralTiles, |p| {
        let body = body(p);
        let promotions = body.extract_if(.., |step| matches!(step, Promote { .. }));
        let promotions: Vec<_> = promotions.collect();
        let at = body.first_like(RELEASE);
        body.splice(at..at, promotions);
    };
    "a stage is released before its last tile is multiplied", SeveralTiles, |p| {
        body(p).move_before(RELEASE, PROMOTE);
    };
    "whole stages are multiplied into the accumulators", Promotes, |p| {
        body(p).replace_like(TILE, &[MultiplyStage]);
    };
    "accumulators are fenced once per kernel", Warpgroups, |p|
        take(p, FenceOperands).opening.push(FenceOperands);
    "one more store may be in flight", Warpgroups, |p| weaken(epilogue(p), AWAIT_STORES);
    "one store may be in flight at the end", Warpgroups, |p| {
        p.roles.consumer.closing = vec![AwaitStores { pending: 1 }];
    };
    "warps synchronize once per subtile, after the store", Warpgroups, |p| {
        epilogue(p).drop_like(Meet);
        epilogue(p).replace_like(CommitStores, &[CommitStores, Meet]);
    };
    "the proxy fence comes after the barrier", Warpgroups, |p| {
        let stores: Vec<_> = epilogue(p).clone();
        *epilogue(p) = stores.into_iter().flat_map(|step| match step {
            FenceProxy => vec![],
            StoreTensor { .. } => vec![FenceProxy, step],
            step => vec![step],
        }).collect();
    };
    "every step stores subtile 0", Warpgroups, |p| epilogue(p).replace_like(STORE, &[STORE]);
    "subtiles are staged one group of buffers too late", Warpgroups, |p| {
        let (buffers, subtiles) = (p.ring.staging_buffers as u8, p.subtiles as u8);
        for step in epilogue(p) {
            if let StoreStaging { subtile } = step {
                *subtile = (*subtile + buffers) % subtiles;
            }
        }
    };
    "vectors are staged again while warps read them", Vectors, |p| {
        let first = epilogue(p).iter().position(|step| matches!(step, StoreStaging { .. }));
        epilogue(p).insert(first.map_or(0, |at| at + 1), StageVectors);
    };
    "all subtiles are staged before the first is stored", Warpgroups, |p| {
        let is_store = |step: &mut RoleStep| matches!(step, StoreTensor { .. } | CommitStores);
        let stores: Vec<_> = epilogue(p).extract_if(.., is_store).collect();
        epilogue(p).extend(stores);
    };
    "lanes synchronize once per tile of D", Threads, |p| take(p, MeetWarp).tail.push(MeetWarp);
    "a stage is released before the lanes synchronize", Threads, |p|
        take(p, MeetWarp).body.push(MeetWarp);
    "threads store before they multiply", Threads, |p| {
        epilogue(p).drop_like(StoreThreads);
        prologue(p).push(StoreThreads);
    };
    "threads store twice", Threads, |p| epilogue(p).push(StoreThreads);
    "threads store once per k-tile", Threads, |p| body(p).push(StoreThreads);
    "threads multiply an instruction tile", Threads, |p| {
        epilogue(p).replace_like(StoreThreads, &[TILE, StoreThreads]);
    };
    "split-K slices are reduced before the products are complete", Split, |p| {
        tail(p).move_to(0, ReduceSlices);
    };
    "a split-K slice is reduced twice", Split, |p| tail(p).push(ReduceSlices);
    "split-K slices are reduced once per k-tile", Split, |p| body(p).push(ReduceSlices);
    "split-K slices are reduced after D is stored", Split, |p| {
        tail(p).drop_like(ReduceSlices);
        epilogue(p).push(ReduceSlices);
    };
    "the last subtile is not stored", Nothing, |p| p.subtiles += 1;
    "consumers request too few registers", Registers, |p| {
        p.consumer_registers = 240;
        p.roles.consumer.opening = vec![RegistersUp { count: 232 }];
    };
    "the producer keeps too many registers", Registers, |p| {
        p.roles.producer.opening = vec![RegistersDown { count: 40 }];
        p.roles.consumer.opening = vec![RegistersUp { count: 240 }];
    };
    "the CTAs of a cluster do not synchronize", Cluster, |p|
        p.roles.setup.opening.replace_like(MeetCluster, &[MeetBlock]);
    "barriers are initialized twice", Nothing, |p| p.roles.setup.opening.insert(1, InitBarriers);
    "a consumer issues a copy", Nothing, |p| body(p).insert(0, COPY);
    "slices are gathered before the products are complete", Gathers, |p| {
        let tail = tail(p);
        let exchange = tail.split_off(tail.first_like(AwaitRead));
        prologue(p).extend(exchange);
    };
    "a slice is sent twice", Gathers, |p| tail(p).push(SendPartials);
    "slices are added twice", Gathers, |p| tail(p).push(AddPartials);
    "half of the slices' bytes are announced", Gathers, |p| p.landing_bytes /= 2;
    "bytes of one slice too many are announced", Gathers, |p| p.landing_bytes += p.partial_bytes;
    "a slice has half of its bytes", Gathers, |p| p.partial_bytes /= 2;
    "slots are awaited once per kernel", Gathers, |p| {
        tail(p).drop_like(AwaitRead);
        p.roles.consumer.opening.push(AwaitRead);
    };
    "slots are released before they have been read", Gathers, |p| {
        tail(p).move_before(ReleasePartials, AwaitPartials);
    };
    "slots are released twice", Gathers, |p| tail(p).push(ReleasePartials);
    "the slices of a cluster are added after D is stored", Gathers, |p| {
        tail(p).drop_like(AddPartials);
        epilogue(p).push(AddPartials);
    };
    "the slices of a cluster are reduced with tickets", Gathers, |p| {
        tail(p).replace_like(AddPartials, &[ReduceSlices]);
    };
    "the CTAs that have slices do not synchronize", Gathers, |p| {
        p.roles.setup.opening.replace_like(MeetCluster, &[MeetBlock]);
    };
    "slices are exchanged without a cluster", Split, |p| tail(p).push(SendPartials);
}
