//! Why a request is not a kernel, or not a call: each reason a sentence.
//!
//! A refusal names the field, its value, the limit, and the nearest legal value. The same sentence is read in the compiler's
//! output (a `const` that does not check), on the terminal (exit code 2), and in [`Error::Refused`](crate::Error::Refused).

mod split;
mod words;

pub use split::SplitRefusal;

use crate::{
    arch::{ArchKind, OpKind},
    device::Route,
    layout::Order,
    numeric::ElementKind,
};
use core::fmt;

/// Why a request was refused. [`sentence`](Self::sentence) says it in words.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant's sentence, in words.rs, says what its fields are")]
pub enum Refusal {
    // The description.
    NoSuchCombination { a: ElementKind, b: ElementKind, accumulator: ElementKind, c: ElementKind },
    OfOtherUnits { a: ElementKind, b: ElementKind, accumulator: ElementKind, c: ElementKind, op: OpKind, other: OpKind },
    NoSuchOperation { op: OpKind, arch: ArchKind },
    DoesNotNest { outer: &'static str, inner: &'static str, axis: &'static str, value: u32, of: u32, nearest: u32 },
    OutOfRange { field: &'static str, value: u64, least: u64, most: u64 },
    NotOneOf { field: &'static str, value: u64, legal: &'static str, nearest: u64 },
    NotEven { field: &'static str, value: u32 },
    NotMultiple { field: &'static str, value: u64, of: u64, nearest: u64 },
    PipelinedStages { stages: u32 },
    NoChoice { field: &'static str, mainloop: &'static str, nearest: &'static str },
    HopperAlone { mainloop: &'static str, arch: ArchKind },
    OnTensorCores { mainloop: &'static str, op: OpKind },
    HasRoles { mainloop: &'static str },
    NoLoopToUnroll { groups: u32, mainloop: &'static str },
    NoAsynchronousCopy { arch: ArchKind },
    CopyWidth { operand: &'static str, bytes: u32, element: ElementKind, nearest: u32 },
    CopyNotWhole { operand: &'static str, access: u32, run: u32, nearest: u32 },
    AccessDoesNotDivideTile { operand: &'static str, access: u32, extent: u32, nearest: u32 },
    AccessApart { field: &'static str, access: u32, run: u32 },
    NotGathered { what: &'static str },
    SwizzleBeyondRow { operand: &'static str, chunk: u32, row: u32 },
    Registers { needed: u32, available: u32, threads: u32, blocks: u32 },
    SharedMemory { needed: u32, available: u32, stages: u32, stage: u32, deposit: u32, blocks: u32, arch: u32 },
    Epilogue { why: &'static str },
    Split(SplitRefusal),
    Compute { compute: &'static str, accumulator: ElementKind, c: ElementKind, nearest: &'static str },
    // The machine.
    MachineTooOld { arch: ArchKind, sm: u32 },
    OtherMachine { mainloop: &'static str, arch: ArchKind, sm: u32 },
    // The problem.
    ExtentTooLarge { axis: &'static str, value: usize, most: u64 },
    TooManyTiles { tiles: u64, most: u64 },
    LeadingDimension { operand: &'static str, value: usize, least: usize, axis: &'static str },
    TooShort { operand: &'static str, length: usize, needed: u128, rows: usize, columns: usize, leading: usize },
    Overflow { operand: &'static str, rows: usize, columns: usize, leading: usize },
    OutOfMemory { needed: u64, available: u64 },
    Overlap { operand: &'static str },
    BatchOverlaps { value: usize, nearest: u64 },
    NotScaled { scalar: &'static str },
    NotFinite { scalar: &'static str },
    MissingOperand { name: &'static str },
    UnknownNode { id: u64 },
    NotPrepared,
    OtherDevice { operand: &'static str },
    PartlyShared { operand: &'static str },
    Workspace { given: u64, a: Route, b: Route, needed: u64 },
    NotOnStream { operand: &'static str },
    ShorterThanLayout { operand: &'static str, length: usize, needed: u64 },
    WrittenWhileRead { written: &'static str, read: &'static str },
    Layouts { a: Order, b: Order, d: Order, exchanged: bool },
    ElementType { given: ElementKind, wanted: ElementKind },
    ElementBytes { given: ElementKind, bytes: u32 },
    TensorStride { operand: &'static str, what: &'static str, value: u64, of: u64, nearest: u64 },
    StoreCorner { value: i32 },
    TensorCorner { value: i32, of: u32, nearest: i32 },
}

impl Refusal {
    /// The same refusal of the problem with A and B in each other's place: for a user whose D is column-major.
    pub fn exchanged(mut self) -> Self {
        // The names that `check` gives to what belongs to an operand.
        const PAIRS: [[&str; 2]; 9] = [
            ["A", "B"],
            ["alignment of A", "alignment of B"],
            ["padding of A", "padding of B"],
            ["swizzle bits of A", "swizzle bits of B"],
            ["swizzle base of A", "swizzle base of B"],
            ["swizzle shift of A", "swizzle shift of B"],
            ["the layout of A in shared memory", "the layout of B in shared memory"],
            // Shapes stay the kernel's, whose A is the user's B.
            ["source_a = registers where A is contiguous along K", "source_a = registers where B is contiguous along K"],
            ["instruction N where B is contiguous along N", "instruction N where A is contiguous along M"],
        ];
        let other = |name: &'static str| {
            let pair = PAIRS.into_iter().find(|pair| pair.contains(&name));
            pair.map_or(name, |[a, b]| if name == a { b } else { a })
        };
        match &mut self {
            Self::NotOneOf { field: name, .. }
            | Self::OutOfRange { field: name, .. }
            | Self::NotMultiple { field: name, .. }
            | Self::NoChoice { field: name, .. }
            | Self::CopyWidth { operand: name, .. }
            | Self::CopyNotWhole { operand: name, .. }
            | Self::AccessDoesNotDivideTile { operand: name, .. }
            | Self::SwizzleBeyondRow { operand: name, .. } => *name = other(name),
            Self::Split(refusal) => *refusal = refusal.exchanged(),
            _ => {}
        }
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence().as_str())
    }
}

impl std::error::Error for Refusal {}
