//! Faults of programs. The crate `falchion-check` finds most of them.

use super::{RoleStep, ShareName, SubtileName, Who};
use crate::{refusal::Refusal, shape::OperandKind};

/// An error that a kernel of this description would commit on a GPU, in at least one order of
/// events that the GPU may choose.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant's sentence says what its fields are")]
pub enum Fault {
    #[error("thread {thread} touches byte {byte} of a shared memory of {size}")]
    OutOfBounds { thread: u32, byte: u64, size: u64 },
    #[error("thread {thread} reads byte {byte} of shared memory, which no thread wrote")]
    Uninitialized { thread: u32, byte: u64 },
    #[error(
        "thread {thread} reads byte {byte} of shared memory before the wait for thread {by}'s copy"
    )]
    Unlanded { thread: u32, byte: u64, by: u32 },
    #[error(
        "thread {thread} reads byte {byte} of shared memory, written by thread {by} without a barrier in between"
    )]
    ReadOfUnordered { thread: u32, byte: u64, by: u32 },
    #[error(
        "thread {thread} writes byte {byte} of shared memory, read by thread {by} without a barrier in between"
    )]
    WriteOverRead { thread: u32, byte: u64, by: u32 },
    #[error(
        "thread {thread} writes byte {byte} of shared memory, written by thread {by} without a barrier in between"
    )]
    WriteOverWrite { thread: u32, byte: u64, by: u32 },
    #[error(
        "thread {thread} reads tile {found} of {operand} in its stage instead of tile {wanted}"
    )]
    Stale { thread: u32, operand: OperandKind, wanted: u32, found: u32 },
    #[error(
        "thread {thread} multiplies k-block {k_block} of tile {tile}, but its fragment of {operand} holds another k-block"
    )]
    StaleFragment { thread: u32, operand: OperandKind, tile: u32, k_block: u32 },
    #[error(
        "thread {thread} multiplies k-block {k_block} of tile {tile} after {found} other k-blocks"
    )]
    OutOfOrder { thread: u32, tile: u32, k_block: u32, found: u64 },
    #[error("thread {thread} has multiplied {multiplied} k-blocks of {wanted}")]
    Unfinished { thread: u32, multiplied: u64, wanted: u64 },
    #[error(
        "thread {thread} reduces warp slice {slice}, but shared memory has the partial accumulators of another one"
    )]
    PartialsNotStored { thread: u32, slice: u32 },
    #[error("{reduced} of {warp_slices} warp slices were reduced")]
    Unreduced { warp_slices: u32, reduced: u32 },
    #[error("the role has no step {step}")]
    ForeignStep { step: &'static str },
    #[error(
        "the access to shared memory that begins at ({mn}, {k}) of {operand}'s tile is not one aligned piece"
    )]
    VectorApart { operand: OperandKind, mn: u32, k: u32 },
    #[error(
        "the store to D that begins with accumulator {accumulator} of thread {thread} is not one aligned piece"
    )]
    StoreApart { thread: u32, accumulator: u32 },
    #[error("the map {map} leaves out ({row}, {column})")]
    LeftOut { map: &'static str, row: u32, column: u32 },
    #[error("the map {map} sends {who} to {found}, beyond {most}")]
    Beyond { who: Who, map: &'static str, found: u32, most: u32 },
    #[error("the lanes of warp {warp} hold no outer product")]
    NotAnOuterProduct { warp: u32 },
    #[error("partial accumulator {accumulator} of thread {thread} is stored where another one is")]
    PartialStoredTwice { thread: u32, accumulator: u32 },
    #[error("element ({row}, {column}) of a tile is stored twice")]
    StoredTwice { row: u32, column: u32 },
    #[error("element ({row}, {column}) of a tile is never stored")]
    NeverStored { row: u32, column: u32 },
    #[error("tile ({row}, {column}) of D is computed by no block, or by two")]
    TileTwice { row: u32, column: u32 },
    #[error(
        "no descriptor of {operand} starts at {start} with distances of {leading} and {stride} bytes"
    )]
    NotADescriptor { operand: OperandKind, start: u32, leading: u32, stride: u32 },
    #[error("byte {byte} of a stage's part of {operand} is touched, which has {size}")]
    BeyondStage { operand: OperandKind, byte: u32, size: u32 },
    #[error(
        "copies of {operand} report {told} bytes to their barrier, which expects {counted} bytes"
    )]
    CopiedBytes { operand: OperandKind, told: u32, counted: u32 },
    #[error("consumer {consumer} touches byte {byte} of a staging buffer of {size}")]
    BeyondStaging { consumer: u32, byte: u32, size: u32 },
    #[error("consumer {consumer} stages byte {byte} of subtile {subtile} twice")]
    StagedTwice { consumer: u32, subtile: u32, byte: u32 },
    #[error("consumer {consumer} stores byte {byte} of subtile {subtile}, which no thread staged")]
    NotStaged { consumer: u32, subtile: u32, byte: u32 },
    #[error("element ({row}, {column}) lies outside of D and is written")]
    OutsideOfD { row: u64, column: u64 },
    #[error("element ({row}, {column}) of D is written twice")]
    WrittenTwice { row: u64, column: u64 },
    #[error("element ({row}, {column}) of D is never written")]
    NeverWritten { row: u64, column: u64 },
    #[error(
        "element ({found_row}, {found_column}) of A's tile arrives where ({row}, {column}) belongs"
    )]
    Misplaced { row: u32, column: u32, found_row: u32, found_column: u32 },
    #[error("deadlock: {who} waits at {step}, one of {waiting} waiting warps")]
    Deadlock { who: Who, step: RoleStep, waiting: u32 },
    #[error("{who} reaches {step} before block {block}'s barriers are set up")]
    NotSetUp { who: Who, step: RoleStep, block: u32 },
    #[error("{who} sets up barriers that are in use")]
    SetUpTwice { who: Who },
    #[error("{who} reaches {step}, and block {block}'s barriers are not visible to it")]
    InitNotFenced { who: Who, step: RoleStep, block: u32 },
    #[error("{who} arrives by {step} at {} {} of block {block}, which waits for no arrival", barrier.0, barrier.1)]
    TooManyArrivals { who: Who, step: RoleStep, block: u32, barrier: (&'static str, u32) },
    #[error("{who} overwrites {lost} in block {block} before all consumers have read it")]
    Overrun { who: Who, block: u32, lost: ShareName },
    #[error("{who} overwrites {read} in block {block} while products read it")]
    OverwrittenWhileRead { who: Who, block: u32, read: ShareName },
    #[error("{who} copies over {written} in block {block} while that is under way")]
    OverwrittenWhileWritten { who: Who, block: u32, written: ShareName },
    #[error("{who} reads stage {stage} of {operand} before its bytes have arrived")]
    NotFull { who: Who, stage: u32, operand: OperandKind },
    #[error("{who} reads {found} instead of {wanted}")]
    StaleShare { who: Who, wanted: ShareName, found: ShareName },
    #[error("{who} multiplies lines of {operand} that are not yet visible to products")]
    LinesNotVisible { who: Who, operand: OperandKind },
    #[error("{who} ends while lines that it copies are under way")]
    LinesUnderWay { who: Who },
    #[error("{who} multiplies into accumulators that no fence orders")]
    OperandsNotFenced { who: Who },
    #[error("{who} multiplies k-tile {k} after {after} other k-tiles")]
    StageOutOfOrder { who: Who, k: u32, after: u32 },
    #[error("{who} multiplies k-tile {k}, whose fragments it does not hold")]
    NotLoaded { who: Who, k: u32 },
    #[error("{who} reads k-tile {k} before all consumers have cleared what lies outside its group")]
    NotCleared { who: Who, k: u32 },
    #[error("{who} loads A of k-tile {k} to set {set} of its registers while products read it")]
    FragmentsOverwritten { who: Who, k: u32, set: u32 },
    #[error("{who} multiplies the last k of a tile that it has not begun")]
    NothingBegun { who: Who },
    #[error(
        "{who} multiplies instruction tile {tile} of a stage over tile {lost}, which is not promoted"
    )]
    TileOverwritten { who: Who, tile: u8, lost: u8 },
    #[error("{who} multiplies instruction tile {tile} of a stage again")]
    TileAgain { who: Who, tile: u8 },
    #[error("{who} promotes instruction tile {tile} of a stage while unfinished products write it")]
    TileUnderWay { who: Who, tile: u8 },
    #[error("{who} promotes instruction tile {tile} of a stage and finds {}", found.map_or("nothing that is not promoted yet".to_owned(), |found| format!("tile {found}")))]
    NothingToPromote { who: Who, tile: u8, found: Option<u8> },
    #[error("{who} stages subtile {subtile} while unfinished products write its accumulators")]
    ProductsUnderWay { who: Who, subtile: u8 },
    #[error("{who} takes accumulators to the epilogue of {multiplied} k-tiles, of {wanted}")]
    TileUnfinished { who: Who, multiplied: u32, wanted: u32 },
    #[error(
        "{who} takes the accumulators of a split-K slice to the epilogue, to which no other slice is added"
    )]
    SliceNotAdded { who: Who },
    #[error("{who} reduces its split-K slice twice")]
    SliceBroughtTwice { who: Who },
    #[error("{who} sends the partials of unit {unit} over partials that are not read")]
    SliceSentOver { who: Who, unit: u32 },
    #[error("{who} adds the partials of unit {unit} of block {rank}, which are not there")]
    SliceNotThere { who: Who, unit: u32, rank: u32 },
    #[error("{who} copies {subtile} of C over {what}")]
    SourceOverwrites { who: Who, subtile: SubtileName, what: &'static str },
    #[error("{who} stages {subtile} and finds of C {}", or(found, "nothing that has landed"))]
    SourceNotThere { who: Who, subtile: SubtileName, found: Option<SubtileName> },
    #[error("{who} stages {subtile} and does not find the vectors of the tile")]
    VectorsNotThere { who: Who, subtile: SubtileName },
    #[error("{who} stages vectors that another warp may still read")]
    VectorsRead { who: Who },
    #[error("{who} stages subtile {subtile} where a store still reads")]
    StagingRead { who: Who, subtile: u8 },
    #[error("{who} stores {wanted} and finds {}", or(found, "nothing"))]
    SubtileNotStaged { who: Who, wanted: SubtileName, found: Option<SubtileName> },
    #[error("{who} stores {subtile}, which is not yet visible to asynchronous copies")]
    NotVisible { who: Who, subtile: SubtileName },
    #[error("{who} stores {subtile} again")]
    SubtileStoredTwice { who: Who, subtile: SubtileName },
    #[error("{subtile} of consumer {warpgroup} of block {block} is never stored")]
    SubtileNeverStored { block: u32, warpgroup: u32, subtile: SubtileName },
    #[error("{} at block {block}, which has left", if *arriving { "a warp arrives" } else { "bytes land" })]
    BlockLeft { block: u32, arriving: bool },
    #[error("{who} is the last to leave, and {what}")]
    LeftUnderWay { who: Who, what: &'static str },
    #[error("{who} has {has} registers per thread and needs {needs}")]
    Registers { who: Who, has: u32, needs: u32 },
    #[error("there is no such ring: {refusal}")]
    NoRing { refusal: Refusal },
}

/// Returns the name of a subtile, or `nothing` if there is none.
fn or(found: &Option<SubtileName>, nothing: &str) -> String {
    found.map_or(nothing.to_owned(), |found| found.to_string())
}
