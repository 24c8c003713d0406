//! What the checked executor finds.

use crate::{operand::OperandKind, schedule::Step};

/// Something that a kernel of this description would do wrong on a GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant's sentence says what its fields are")]
pub enum Fault {
    #[error("thread {thread} touches byte {byte} of a shared memory of {size}")]
    OutOfBounds { thread: u32, byte: u64, size: u64 },
    #[error("thread {thread} reads byte {byte} of shared memory, which no one wrote")]
    Uninitialized { thread: u32, byte: u64 },
    #[error("thread {thread} reads byte {byte} of shared memory before thread {by}'s copy to it was waited for")]
    Unlanded { thread: u32, byte: u64, by: u32 },
    #[error("thread {thread} reads byte {byte} of shared memory, written by thread {by} with no barrier between")]
    ReadOfUnordered { thread: u32, byte: u64, by: u32 },
    #[error("thread {thread} writes byte {byte} of shared memory, read by thread {by} with no barrier between")]
    WriteOverRead { thread: u32, byte: u64, by: u32 },
    #[error("thread {thread} writes byte {byte} of shared memory, written by thread {by} with no barrier between")]
    WriteOverWrite { thread: u32, byte: u64, by: u32 },
    #[error("thread {thread} wants tile {wanted} of {operand} and finds tile {found} in its stage")]
    Stale { thread: u32, operand: OperandKind, wanted: u32, found: u32 },
    #[error("thread {thread} multiplies k-group {group} of tile {tile}, and its fragment of {operand} holds another")]
    StaleFragment { thread: u32, operand: OperandKind, tile: u32, group: u32 },
    #[error("thread {thread} multiplies k-group {group} of tile {tile} after {found} others")]
    OutOfOrder { thread: u32, tile: u32, group: u32, found: u64 },
    #[error("thread {thread} has multiplied {multiplied} k-groups of {wanted}")]
    Unfinished { thread: u32, multiplied: u64, wanted: u64 },
    #[error("thread {thread} collects slice {slice}, and finds another's sums")]
    NotDeposited { thread: u32, slice: u32 },
    #[error("{collected} of {slices} slices of K were added up")]
    Uncollected { slices: u32, collected: u32 },
    #[error("this main loop has no step {step}")]
    ForeignStep { step: Step },
    #[error("the access to shared memory that begins at ({mn}, {k}) of {operand}'s tile is not one aligned piece")]
    VectorApart { operand: OperandKind, mn: u32, k: u32 },
    #[error("the store to D that begins with accumulator {accumulator} of thread {thread} is not one aligned piece")]
    StoreApart { thread: u32, accumulator: u32 },
    #[error("the map {map} leaves out ({row}, {column})")]
    LeftOut { map: &'static str, row: u32, column: u32 },
    #[error("the lanes of warp {warp} hold no outer product")]
    NotAnOuterProduct { warp: u32 },
    #[error("accumulator {accumulator} of thread {thread} is deposited where another one is")]
    DepositedTwice { thread: u32, accumulator: u32 },
    #[error("element ({row}, {column}) of a tile is stored twice")]
    StoredTwice { row: u32, column: u32 },
    #[error("element ({row}, {column}) of a tile is never stored")]
    NeverStored { row: u32, column: u32 },
    #[error("tile ({row}, {column}) of D is computed by no block, or by two")]
    TileTwice { row: u32, column: u32 },
    #[error("no descriptor of {operand} starts at {start} with distances of {leading} and {stride} bytes")]
    NotADescriptor { operand: OperandKind, start: u32, leading: u32, stride: u32 },
    #[error("byte {byte} of a stage's part of {operand} is touched, which has {size}")]
    BeyondStage { operand: OperandKind, byte: u32, size: u32 },
    #[error("copies of {operand} tell their barrier of {told} bytes, and {counted} are counted on")]
    CopiedBytes { operand: OperandKind, told: u32, counted: u32 },
    #[error("consumer {consumer} touches byte {byte} of a staging buffer of {size}")]
    BeyondStaging { consumer: u32, byte: u32, size: u32 },
    #[error("consumer {consumer} deposits byte {byte} of slice {slice} twice")]
    StagedTwice { consumer: u32, slice: u32, byte: u32 },
    #[error("consumer {consumer} stores byte {byte} of slice {slice}, which no one deposited")]
    NotStaged { consumer: u32, slice: u32, byte: u32 },
    #[error("element ({row}, {column}) lies outside of D and is written")]
    OutsideOfD { row: u64, column: u64 },
    #[error("element ({row}, {column}) of D is written twice")]
    WrittenTwice { row: u64, column: u64 },
    #[error("element ({row}, {column}) of D is never written")]
    NeverWritten { row: u64, column: u64 },
    #[error("element ({found_row}, {found_column}) of A's tile arrives where ({row}, {column}) belongs")]
    Misplaced { row: u32, column: u32, found_row: u32, found_column: u32 },
}
