//! What the checked executor finds.

use crate::{operand::OperandKind, schedule::Step};
use core::fmt;

/// Something that a kernel of this description would do wrong on a GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant's sentence, below, says what its fields are")]
pub enum Fault {
    OutOfBounds { thread: u32, byte: u64, size: u64 },
    Uninitialized { thread: u32, byte: u64 },
    Unlanded { thread: u32, byte: u64, by: u32 },
    ReadOfUnordered { thread: u32, byte: u64, by: u32 },
    WriteOverRead { thread: u32, byte: u64, by: u32 },
    WriteOverWrite { thread: u32, byte: u64, by: u32 },
    Stale { thread: u32, operand: OperandKind, wanted: u32, found: u32 },
    StaleFragment { thread: u32, operand: OperandKind, tile: u32, group: u32 },
    OutOfOrder { thread: u32, tile: u32, group: u32, found: u64 },
    Unfinished { thread: u32, multiplied: u64, wanted: u64 },
    NotDeposited { thread: u32, slice: u32 },
    Uncollected { slices: u32, collected: u32 },
    ForeignStep { step: Step },
    VectorApart { operand: OperandKind, mn: u32, k: u32 },
    StoreApart { thread: u32, accumulator: u32 },
    LeftOut { map: &'static str, row: u32, column: u32 },
    NotAnOuterProduct { warp: u32 },
    DepositedTwice { thread: u32, accumulator: u32 },
    StoredTwice { row: u32, column: u32 },
    NeverStored { row: u32, column: u32 },
    TileTwice { row: u32, column: u32 },
    NotADescriptor { operand: OperandKind, start: u32, leading: u32, stride: u32 },
    BeyondStage { operand: OperandKind, byte: u32, size: u32 },
    CopiedBytes { operand: OperandKind, told: u32, counted: u32 },
    BeyondStaging { consumer: u32, byte: u32, size: u32 },
    StagedTwice { consumer: u32, slice: u32, byte: u32 },
    NotStaged { consumer: u32, slice: u32, byte: u32 },
    OutsideOfD { row: u64, column: u64 },
    WrittenTwice { row: u64, column: u64 },
    NeverWritten { row: u64, column: u64 },
    Misplaced { row: u32, column: u32, found_row: u32, found_column: u32 },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OutOfBounds { thread, byte, size } => {
                write!(f, "thread {thread} touches byte {byte} of a shared memory of {size}")
            }
            Self::Uninitialized { thread, byte } => {
                write!(f, "thread {thread} reads byte {byte} of shared memory, which no one wrote")
            }
            Self::Unlanded { thread, byte, by } => {
                write!(f, "thread {thread} reads byte {byte} of shared memory before thread {by}'s copy to it was waited for")
            }
            Self::ReadOfUnordered { thread, byte, by } => {
                write!(f, "thread {thread} reads byte {byte} of shared memory, written by thread {by} with no barrier between")
            }
            Self::WriteOverRead { thread, byte, by } => {
                write!(f, "thread {thread} writes byte {byte} of shared memory, read by thread {by} with no barrier between")
            }
            Self::WriteOverWrite { thread, byte, by } => {
                write!(f, "thread {thread} writes byte {byte} of shared memory, written by thread {by} with no barrier between")
            }
            Self::Stale { thread, operand, wanted, found } => {
                write!(f, "thread {thread} wants tile {wanted} of {} and finds tile {found} in its stage", operand.name())
            }
            Self::StaleFragment { thread, operand, tile, group } => write!(
                f,
                "thread {thread} multiplies k-group {group} of tile {tile}, and its fragment of {} holds another",
                operand.name()
            ),
            Self::OutOfOrder { thread, tile, group, found } => {
                write!(f, "thread {thread} multiplies k-group {group} of tile {tile} after {found} others")
            }
            Self::Unfinished { thread, multiplied, wanted } => {
                write!(f, "thread {thread} has multiplied {multiplied} k-groups of {wanted}")
            }
            Self::NotDeposited { thread, slice } => write!(f, "thread {thread} collects slice {slice}, and finds another's sums"),
            Self::Uncollected { slices, collected } => write!(f, "{collected} of {slices} slices of K were added up"),
            Self::ForeignStep { step } => write!(f, "this main loop has no step {step}"),
            Self::VectorApart { operand, mn, k } => write!(
                f,
                "the access to shared memory that begins at ({mn}, {k}) of {}'s tile is not one aligned piece",
                operand.name()
            ),
            Self::StoreApart { thread, accumulator } => {
                write!(f, "the store to D that begins with accumulator {accumulator} of thread {thread} is not one aligned piece")
            }
            Self::LeftOut { map, row, column } => write!(f, "the map {map} leaves out ({row}, {column})"),
            Self::NotAnOuterProduct { warp } => write!(f, "the lanes of warp {warp} hold no outer product"),
            Self::DepositedTwice { thread, accumulator } => {
                write!(f, "accumulator {accumulator} of thread {thread} is deposited where another one is")
            }
            Self::StoredTwice { row, column } => write!(f, "element ({row}, {column}) of a tile is stored twice"),
            Self::NeverStored { row, column } => write!(f, "element ({row}, {column}) of a tile is never stored"),
            Self::Misplaced { row, column, found_row, found_column } => {
                write!(f, "element ({found_row}, {found_column}) of A's tile arrives where ({row}, {column}) belongs")
            }
            Self::NotADescriptor { operand, start, leading, stride } => {
                write!(f, "no descriptor of {} starts at {start} with distances of {leading} and {stride} bytes", operand.name())
            }
            Self::BeyondStage { operand, byte, size } => {
                write!(f, "byte {byte} of a stage's part of {} is touched, which has {size}", operand.name())
            }
            Self::CopiedBytes { operand, told, counted } => {
                write!(f, "copies of {} tell their barrier of {told} bytes, and {counted} are counted on", operand.name())
            }
            Self::BeyondStaging { consumer, byte, size } => {
                write!(f, "consumer {consumer} touches byte {byte} of a staging buffer of {size}")
            }
            Self::StagedTwice { consumer, slice, byte } => {
                write!(f, "consumer {consumer} deposits byte {byte} of slice {slice} twice")
            }
            Self::NotStaged { consumer, slice, byte } => {
                write!(f, "consumer {consumer} stores byte {byte} of slice {slice}, which no one deposited")
            }
            Self::OutsideOfD { row, column } => write!(f, "element ({row}, {column}) lies outside of D and is written"),
            Self::WrittenTwice { row, column } => write!(f, "element ({row}, {column}) of D is written twice"),
            Self::NeverWritten { row, column } => write!(f, "element ({row}, {column}) of D is never written"),
            Self::TileTwice { row, column } => write!(f, "tile ({row}, {column}) of D is computed by no block, or by two"),
        }
    }
}

impl std::error::Error for Fault {}
