//! What the machine finds.

use super::payload::{ShareName, SliceName, WarpName};
use crate::{
    Refusal,
    operand::OperandKind,
    schedule::{Role, RoleStep},
    threadblock::Region,
};
use core::fmt;

/// Who did it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Who {
    /// Its role.
    pub role: Role,
    /// Its place. Of a producer, the warpgroup is 0.
    pub name: WarpName,
}

impl Who {
    /// Whether it is the thread that sets up its block's barriers.
    pub(super) fn sets_up(self) -> bool {
        self.role == Role::Producer && self.name.warp == 0
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WarpName { block, warpgroup, warp } = self.name;
        match self.role {
            Role::Consumer => write!(f, "warp {warp} of consumer {warpgroup} of block {block}"),
            _ => write!(f, "warp {warp} of the producer of block {block}"),
        }
    }
}

/// Something that a kernel of this program would do wrong on a GPU, in one order of events that the GPU may choose.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant's sentence says what its fields are")]
pub enum RingFault {
    #[error("nobody can move: {who} waits at {step}, one of {waiting} that wait")]
    Deadlock { who: Who, step: RoleStep, waiting: u32 },
    #[error("{who} comes to {step} before block {block}'s barriers are set up")]
    NotSetUp { who: Who, step: RoleStep, block: u32 },
    #[error("{who} sets up barriers that are in use")]
    SetUpTwice { who: Who },
    #[error("{who} comes to {step}, and block {block}'s barriers are not visible to it")]
    InitNotFenced { who: Who, step: RoleStep, block: u32 },
    #[error("{who} arrives by {step} at {} {} of block {block}, which waits for no arrival", barrier_name(barrier.0), barrier.1)]
    TooManyArrivals { who: Who, step: RoleStep, block: u32, barrier: (Region, u32) },
    #[error("{who} overwrites {lost} in block {block}, which not all have read")]
    Overrun { who: Who, block: u32, lost: ShareName },
    #[error("{who} overwrites {read} in block {block} while products read it")]
    OverwrittenWhileRead { who: Who, block: u32, read: ShareName },
    #[error("{who} copies over {written} in block {block} while that is under way")]
    OverwrittenWhileWritten { who: Who, block: u32, written: ShareName },
    #[error("{who} reads stage {stage} of {operand} before its bytes have landed")]
    NotFull { who: Who, stage: u32, operand: OperandKind },
    #[error("{who} wants {wanted} and finds {found}")]
    Stale { who: Who, wanted: ShareName, found: ShareName },
    #[error("{who} multiplies into accumulators that are not in order with its products")]
    OperandsNotFenced { who: Who },
    #[error("{who} multiplies tile {k} along K after {after} others")]
    OutOfOrder { who: Who, k: u32, after: u32 },
    #[error("{who} multiplies tile {k} along K, whose fragments it does not hold")]
    NotLoaded { who: Who, k: u32 },
    #[error("{who} loads A of tile {k} along K to set {set} of its registers while products read it")]
    FragmentsOverwritten { who: Who, k: u32, set: u32 },
    #[error("{who} multiplies the last k of a tile that it has not begun")]
    NothingBegun { who: Who },
    #[error("{who} multiplies part {part} of a stage over part {lost}, which is not promoted")]
    PartOverwritten { who: Who, part: u8, lost: u8 },
    #[error("{who} multiplies part {part} of a stage again")]
    PartAgain { who: Who, part: u8 },
    #[error("{who} promotes part {part} of a stage while products that were not waited for write it")]
    PartUnderWay { who: Who, part: u8 },
    #[error("{who} promotes part {part} of a stage and finds {}", found.map_or("nothing that is not promoted yet".to_owned(), |found| format!("part {found}")))]
    NothingToPromote { who: Who, part: u8, found: Option<u8> },
    #[error("{who} deposits slice {slice} while products that were not waited for write its accumulators")]
    ProductsUnderWay { who: Who, slice: u8 },
    #[error("{who} takes sums to the epilogue of {multiplied} tiles along K, of {wanted}")]
    Unfinished { who: Who, multiplied: u32, wanted: u32 },
    #[error("{who} copies {slice} of C over {what}")]
    SourceOverwrites { who: Who, slice: SliceName, what: &'static str },
    #[error("{who} deposits {slice} and finds of C {}", or(found, "nothing that has landed"))]
    SourceNotThere { who: Who, slice: SliceName, found: Option<SliceName> },
    #[error("{who} deposits slice {slice} where a store still reads")]
    StagingRead { who: Who, slice: u8 },
    #[error("{who} stores {wanted} and finds {}", or(found, "nothing"))]
    NotDeposited { who: Who, wanted: SliceName, found: Option<SliceName> },
    #[error("{who} stores {slice}, which asynchronous copies do not see yet")]
    NotVisible { who: Who, slice: SliceName },
    #[error("{who} stores {slice} again")]
    StoredTwice { who: Who, slice: SliceName },
    #[error("{slice} of consumer {warpgroup} of block {block} is never stored")]
    NeverStored { block: u32, warpgroup: u32, slice: SliceName },
    #[error("{} at block {block}, which has left", if *arriving { "a warp arrives" } else { "bytes land" })]
    BlockLeft { block: u32, arriving: bool },
    #[error("{who} is the last to leave, and {what}")]
    LeftUnderWay { who: Who, what: &'static str },
    #[error("{who} has {has} registers a thread and is to have {needs}")]
    Registers { who: Who, has: u32, needs: u32 },
    #[error("the map {map} leaves out ({row}, {column}), which {who} needs")]
    LeftOut { who: Who, map: &'static str, row: u32, column: u32 },
    #[error("the map {map} sends {who} to {found}, beyond {most}")]
    Beyond { who: Who, map: &'static str, found: u32, most: u32 },
    #[error("{who} has no step {step}")]
    ForeignStep { who: Who, step: RoleStep },
    #[error("{blocks} blocks have more warps than the machine tells apart")]
    TooManyWarps { blocks: u32 },
    #[error("there is no such ring: {refusal}")]
    NoRing { refusal: Refusal },
}

/// The name of something, or of nothing.
fn or(found: &Option<SliceName>, nothing: &str) -> String {
    found.map_or(nothing.to_owned(), |found| found.to_string())
}

/// A barrier, before its number.
fn barrier_name(region: Region) -> &'static str {
    match region {
        Region::Full => "the full barrier of stage",
        Region::Empty => "the empty barrier of stage",
        Region::Turn => "the turn barrier of consumer",
        _ => "the source barrier of consumer",
    }
}
