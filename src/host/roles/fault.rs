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
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant's sentence, below, says what its fields are")]
pub enum RingFault {
    Deadlock { who: Who, step: RoleStep, waiting: u32 },
    NotSetUp { who: Who, step: RoleStep, block: u32 },
    SetUpTwice { who: Who },
    InitNotFenced { who: Who, step: RoleStep, block: u32 },
    TooManyArrivals { who: Who, step: RoleStep, block: u32, barrier: (Region, u32) },
    Overrun { who: Who, block: u32, lost: ShareName },
    OverwrittenWhileRead { who: Who, block: u32, read: ShareName },
    OverwrittenWhileWritten { who: Who, block: u32, written: ShareName },
    NotFull { who: Who, stage: u32, operand: OperandKind },
    Stale { who: Who, wanted: ShareName, found: ShareName },
    OperandsNotFenced { who: Who },
    OutOfOrder { who: Who, k: u32, after: u32 },
    NotLoaded { who: Who, k: u32 },
    FragmentsOverwritten { who: Who, k: u32, set: u32 },
    NothingBegun { who: Who },
    PartOverwritten { who: Who, part: u8, lost: u8 },
    PartAgain { who: Who, part: u8 },
    PartUnderWay { who: Who, part: u8 },
    NothingToPromote { who: Who, part: u8, found: Option<u8> },
    ProductsUnderWay { who: Who, slice: u8 },
    Unfinished { who: Who, multiplied: u32, wanted: u32 },
    SourceOverwrites { who: Who, slice: SliceName, what: &'static str },
    SourceNotThere { who: Who, slice: SliceName, found: Option<SliceName> },
    StagingRead { who: Who, slice: u8 },
    NotDeposited { who: Who, wanted: SliceName, found: Option<SliceName> },
    NotVisible { who: Who, slice: SliceName },
    StoredTwice { who: Who, slice: SliceName },
    NeverStored { block: u32, warpgroup: u32, slice: SliceName },
    BlockLeft { block: u32, arriving: bool },
    LeftUnderWay { who: Who, what: &'static str },
    Registers { who: Who, has: u32, needs: u32 },
    LeftOut { who: Who, map: &'static str, row: u32, column: u32 },
    Beyond { who: Who, map: &'static str, found: u32, most: u32 },
    ForeignStep { who: Who, step: RoleStep },
    TooManyWarps { blocks: u32 },
    NoRing { refusal: Refusal },
}

impl fmt::Display for RingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Deadlock { who, step, waiting } => {
                write!(f, "nobody can move: {who} waits at {step}, one of {waiting} that wait")
            }
            Self::NotSetUp { who, step, block } => write!(f, "{who} comes to {step} before block {block}'s barriers are set up"),
            Self::SetUpTwice { who } => write!(f, "{who} sets up barriers that are in use"),
            Self::InitNotFenced { who, step, block } => {
                write!(f, "{who} comes to {step}, and block {block}'s barriers are not visible to it")
            }
            Self::TooManyArrivals { who, step, block, barrier: (region, number) } => {
                let which = match region {
                    Region::Full => "the full barrier of stage",
                    Region::Empty => "the empty barrier of stage",
                    Region::Turn => "the turn barrier of consumer",
                    _ => "the source barrier of consumer",
                };
                write!(f, "{who} arrives by {step} at {which} {number} of block {block}, which waits for no arrival")
            }
            Self::Overrun { who, block, lost } => write!(f, "{who} overwrites {lost} in block {block}, which not all have read"),
            Self::OverwrittenWhileRead { who, block, read } => {
                write!(f, "{who} overwrites {read} in block {block} while products read it")
            }
            Self::OverwrittenWhileWritten { who, block, written } => {
                write!(f, "{who} copies over {written} in block {block} while that is under way")
            }
            Self::NotFull { who, stage, operand } => {
                write!(f, "{who} reads stage {stage} of {} before its bytes have landed", operand.name())
            }
            Self::Stale { who, wanted, found } => write!(f, "{who} wants {wanted} and finds {found}"),
            Self::OperandsNotFenced { who } => {
                write!(f, "{who} multiplies into accumulators that are not in order with its products")
            }
            Self::OutOfOrder { who, k, after } => write!(f, "{who} multiplies tile {k} along K after {after} others"),
            Self::NotLoaded { who, k } => write!(f, "{who} multiplies tile {k} along K, whose fragments it does not hold"),
            Self::FragmentsOverwritten { who, k, set } => {
                write!(f, "{who} loads A of tile {k} along K to set {set} of its registers while products read it")
            }
            Self::NothingBegun { who } => write!(f, "{who} multiplies the last k of a tile that it has not begun"),
            Self::PartOverwritten { who, part, lost } => {
                write!(f, "{who} multiplies part {part} of a stage over part {lost}, which is not promoted")
            }
            Self::PartAgain { who, part } => write!(f, "{who} multiplies part {part} of a stage again"),
            Self::PartUnderWay { who, part } => {
                write!(f, "{who} promotes part {part} of a stage while products that were not waited for write it")
            }
            Self::NothingToPromote { who, part, found } => {
                write!(f, "{who} promotes part {part} of a stage and finds ")?;
                match found {
                    None => f.write_str("nothing that is not promoted yet"),
                    Some(found) => write!(f, "part {found}"),
                }
            }
            Self::ProductsUnderWay { who, slice } => {
                write!(f, "{who} deposits slice {slice} while products that were not waited for write its accumulators")
            }
            Self::Unfinished { who, multiplied, wanted } => {
                write!(f, "{who} takes sums to the epilogue of {multiplied} tiles along K, of {wanted}")
            }
            Self::SourceOverwrites { who, slice, what } => {
                write!(f, "{who} copies slice {} of C for tile {} over {what}", slice.slice, slice.tile)
            }
            Self::SourceNotThere { who, slice, found } => {
                write!(f, "{who} deposits slice {} of tile {} and finds of C ", slice.slice, slice.tile)?;
                match found {
                    None => f.write_str("nothing that has landed"),
                    Some(found) => write!(f, "slice {} for tile {}", found.slice, found.tile),
                }
            }
            Self::StagingRead { who, slice } => write!(f, "{who} deposits slice {slice} where a store still reads"),
            Self::NotDeposited { who, wanted, found } => {
                write!(f, "{who} stores slice {} of tile {} and finds ", wanted.slice, wanted.tile)?;
                match found {
                    None => f.write_str("nothing"),
                    Some(found) => write!(f, "slice {} of tile {}", found.slice, found.tile),
                }
            }
            Self::NotVisible { who, slice } => {
                write!(f, "{who} stores slice {} of tile {}, which asynchronous copies do not see yet", slice.slice, slice.tile)
            }
            Self::StoredTwice { who, slice } => write!(f, "{who} stores slice {} of tile {} again", slice.slice, slice.tile),
            Self::NeverStored { block, warpgroup, slice } => write!(
                f,
                "slice {} of consumer {warpgroup} of block {block} is never stored for tile {}",
                slice.slice, slice.tile
            ),
            Self::BlockLeft { block, arriving } => {
                write!(f, "{} at block {block}, which has left", if arriving { "a warp arrives" } else { "bytes land" })
            }
            Self::LeftUnderWay { who, what } => write!(f, "{who} is the last to leave, and {what}"),
            Self::Registers { who, has, needs } => write!(f, "{who} has {has} registers a thread and is to have {needs}"),
            Self::LeftOut { who, map, row, column } => write!(f, "the map {map} leaves out ({row}, {column}), which {who} needs"),
            Self::Beyond { who, map, found, most } => write!(f, "the map {map} sends {who} to {found}, beyond {most}"),
            Self::ForeignStep { who, step } => write!(f, "{who} has no step {step}"),
            Self::NoRing { refusal } => write!(f, "there is no such ring: {refusal}"),
            Self::TooManyWarps { blocks } => write!(f, "{blocks} blocks have more warps than the machine tells apart"),
        }
    }
}

impl std::error::Error for RingFault {}
