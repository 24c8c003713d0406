//! Why a request is not a kernel, or not a call: each reason a sentence.
//!
//! A refusal names the field, its value, the limit, and the nearest legal value. The same sentence
//! is read in the compiler's output (a `const` that does not check), on the terminal (exit code 2),
//! and in [`Error::Refused`](crate::Error::Refused).

mod combined;
mod emulation;
mod field;
mod operand;
pub(crate) mod rules;
mod unresolved;
mod words;

pub use emulation::{EmulationRefusal, OperandLine};
pub use field::{Field, InstructionAlong, Legal, Malformed, Part, Scalar, Ungathered, Word};
pub use operand::{Operand, Route};
pub use unresolved::Unresolved;

use crate::{
    arch::{ArchKind, OpKind},
    layout::Order,
    numeric::{Combined, ComputeKind, ElementKind},
    operand::{Axis, framed},
};
use core::fmt;

/// Ends a `const fn` with the refusal of a rule, which `?` cannot do there; of a rule that has a
/// value, gives the value.
macro_rules! hold {
    ($rule:expr) => {
        match $rule {
            Ok(value) => value,
            Err(refusal) => return Err(refusal),
        }
    };
}
pub(crate) use hold;

/// Why a request was refused. Its fields are values; [`sentence`](Self::sentence) says them in
/// words.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant's sentence, in words.rs, says what its fields are")]
pub enum Refusal {
    // The description.
    NoSuchCombination {
        types: Combined,
        nearest: Combined,
    },
    OfOtherUnits {
        types: Combined,
        op: OpKind,
        other: OpKind,
    },
    NoSuchOperation {
        types: Combined,
        op: OpKind,
        arch: ArchKind,
        nearest: ArchKind,
    },
    DoesNotNest {
        field: Field,
        inner: Part,
        value: u32,
        of: u32,
        nearest: u32,
    },
    OutOfRange {
        field: Field,
        value: u64,
        least: u64,
        most: u64,
    },
    NotOneOf {
        field: Field,
        value: u64,
        legal: Legal,
        nearest: u64,
    },
    NotEven {
        field: Field,
        value: u32,
    },
    NotMultiple {
        field: Field,
        value: u64,
        of: u64,
        nearest: u64,
    },
    PipelinedStages {
        stages: u32,
    },
    NoChoice {
        field: Field,
        mainloop: Word,
        nearest: Word,
    },
    OfTensorCores {
        field: Field,
        nearest: Word,
    },
    OtherFamilysKnob {
        flag: Word,
        mainloop: Word,
        other: Word,
    },
    KnobOfOtherUnits {
        flag: Word,
        op: OpKind,
        other: OpKind,
    },
    OtherMainloop {
        mainloop: Word,
        op: OpKind,
        arch: ArchKind,
        nearest: Word,
    },
    HopperAlone {
        mainloop: Word,
        arch: ArchKind,
    },
    OnTensorCores {
        mainloop: Word,
        op: OpKind,
    },
    IsWarpSpecialized {
        mainloop: Word,
    },
    GroupsNotStreamed,
    NoArrays,
    NoMaps,
    NoLongArrays,
    NoLoopToUnroll {
        groups: u32,
        mainloop: Word,
    },
    NoAsynchronousCopy {
        arch: ArchKind,
    },
    CopyWidth {
        operand: Operand,
        bytes: u32,
        element: ElementKind,
        nearest: u32,
    },
    CopyNotWhole {
        operand: Operand,
        access: u32,
        run: u32,
        nearest: u32,
    },
    AccessDoesNotDivideTile {
        operand: Operand,
        access: u32,
        extent: u32,
        nearest: u32,
    },
    AccessApart {
        field: Field,
        access: u32,
        run: u32,
    },
    NotGathered {
        why: Ungathered,
    },
    SwizzleBeyondRow {
        operand: Operand,
        chunk: u32,
        row: u32,
    },
    Registers {
        needed: u32,
        available: u32,
        threads: u32,
        blocks: u32,
    },
    ClusterAlongBothAxes {
        m: u32,
        n: u32,
    },
    UnevenBoxes {
        axis: Axis,
        blocks: u32,
        boxes: u32,
        nearest: u32,
    },
    SharedMemory {
        needed: u32,
        available: u32,
        stages: u32,
        stage: u32,
        partials: u32,
        blocks: u32,
        arch: u32,
    },
    Epilogue {
        why: Malformed,
    },
    Emulation(EmulationRefusal),
    NothingToSaturate {
        accumulator: ElementKind,
    },
    Compute {
        compute: ComputeKind,
        accumulator: ElementKind,
        c: ElementKind,
        nearest: ComputeKind,
    },
    // The machine.
    MachineTooOld {
        arch: ArchKind,
        sm: u32,
    },
    PtxTooOld {
        arch: ArchKind,
        ptx: ArchKind,
    },
    OtherMachine {
        mainloop: Word,
        arch: ArchKind,
        sm: u32,
    },
    // The problem.
    ExtentTooLarge {
        field: Field,
        value: usize,
        most: u64,
    },
    TooManyTiles {
        tiles: u64,
        most: u64,
        batch: u64,
    },
    LeadingDimension {
        operand: Operand,
        value: usize,
        least: usize,
        order: Order,
    },
    TooShort {
        operand: Operand,
        length: usize,
        needed: u64,
        extents: [usize; 2],
        leading: usize,
        batch: [usize; 2],
    },
    Overflow {
        operand: Operand,
        extents: [usize; 2],
        leading: usize,
        batch: [usize; 2],
    },
    OutOfMemory {
        needed: u64,
        available: u64,
    },
    Overlap {
        operand: Operand,
    },
    ArrayLength {
        operand: Operand,
        length: usize,
        products: usize,
    },
    ArrayOfBatches,
    GroupsOfBatches,
    ArrayUnlike {
        product: usize,
    },
    ArrayOverlaps {
        product: usize,
        other: usize,
    },
    BatchOverlaps {
        value: usize,
        nearest: u64,
    },
    NotScaled {
        scalar: Scalar,
    },
    NotFinite {
        scalar: Scalar,
    },
    MissingOperand {
        operand: Operand,
    },
    UnreadVector {
        operand: Operand,
    },
    UnreadSource {
        beta: f64,
    },
    UnreadScalar {
        scalar: Scalar,
        value: f64,
        neutral: f64,
    },
    UnknownNode {
        id: u64,
    },
    NodeOfF32 {
        node: Word,
        compute: ComputeKind,
    },
    NotPrepared,
    GroupsCaptured,
    OtherDevice {
        operand: Operand,
    },
    PartlyShared {
        operand: Operand,
    },
    Workspace {
        given: u64,
        a: Route,
        b: Route,
        partials: bool,
        needed: u64,
    },
    WorkspaceCaptured {
        given: u64,
        needed: u64,
    },
    NotOnStream {
        operand: Operand,
    },
    ShorterThanLayout {
        operand: Operand,
        length: usize,
        needed: u64,
    },
    WrittenWhileRead {
        written: Operand,
        read: Operand,
    },
    Strides {
        operand: Operand,
        strides: [usize; 2],
        order: Option<Order>,
    },
    InnerExtents {
        columns_of_a: usize,
        rows_of_b: usize,
    },
    Shape {
        operand: Operand,
        given: [usize; 2],
        wanted: [usize; 2],
    },
    NegativeStride {
        operand: Operand,
        strides: [isize; 2],
    },
    StridesOfView {
        operand: Operand,
    },
    MatrixTooLarge {
        extents: [usize; 2],
        element: ElementKind,
    },
    WrongLength {
        length: usize,
        extents: [usize; 2],
    },
    NullPointer {
        length: usize,
    },
    AllocationCaptured {
        length: usize,
        element: ElementKind,
    },
    ElementType {
        operand: Operand,
        given: ElementKind,
        wanted: ElementKind,
    },
    ElementAddress {
        operand: Operand,
        element: ElementKind,
        beyond: u64,
        bytes: u64,
    },
    ElementBytes {
        given: ElementKind,
        bytes: u32,
    },
    TensorStride {
        operand: Operand,
        field: Field,
        value: u64,
        of: u64,
        nearest: u64,
    },
    TensorCorner {
        value: i32,
        of: u32,
        nearest: i32,
    },
}

impl Refusal {
    /// The most stages that shared memory holds, where there are too many and two fit.
    pub(crate) const fn stages_that_fit(&self) -> Option<u32> {
        let Self::SharedMemory { needed, available, stages, stage, partials, .. } = *self else {
            return None;
        };
        let fit = available
            .saturating_sub(beside_stages(needed, stages, stage, partials))
            .checked_div(stage);
        match fit {
            Some(fit @ 2..) if partials <= available => Some(fit),
            _ => None,
        }
    }

    /// The same refusal of the transposed problem, with A and B in each other's place: of the
    /// user's operands for the kernel's. Shapes of tiles stay the kernel's.
    const fn swapped(mut self) -> Self {
        match &mut self {
            Self::NotOneOf { field, .. }
            | Self::OutOfRange { field, .. }
            | Self::NotMultiple { field, .. }
            | Self::NoChoice { field, .. }
            | Self::OfTensorCores { field, .. }
            | Self::ExtentTooLarge { field, .. } => *field = field.swapped(),
            Self::CopyWidth { operand, .. }
            | Self::CopyNotWhole { operand, .. }
            | Self::AccessDoesNotDivideTile { operand, .. }
            | Self::SwizzleBeyondRow { operand, .. }
            | Self::Overlap { operand }
            | Self::MissingOperand { operand }
            | Self::OtherDevice { operand }
            | Self::PartlyShared { operand }
            | Self::NotOnStream { operand }
            | Self::ElementType { operand, .. }
            | Self::ElementAddress { operand, .. }
            | Self::ShorterThanLayout { operand, .. } => *operand = operand.swapped(),
            Self::TensorStride { operand, field, .. } => {
                (*operand, *field) = (operand.swapped(), field.swapped())
            }
            Self::WrittenWhileRead { written, read } => {
                (*written, *read) = (written.swapped(), read.swapped())
            }
            Self::TooShort { operand, extents, .. } | Self::Overflow { operand, extents, .. } => {
                (*operand, *extents) = (operand.swapped(), [extents[1], extents[0]]);
            }
            Self::LeadingDimension { operand, order, .. } => {
                (*operand, *order) = (operand.swapped(), order.transposed())
            }
            Self::Strides { operand, strides, order } => {
                (*operand, *strides) = (operand.swapped(), [strides[1], strides[0]]);
                *order = match *order {
                    Some(order) => Some(order.transposed()),
                    None => None,
                };
            }
            Self::Workspace { a, b, .. } => (*a, *b) = (*b, *a),
            Self::Emulation(refusal) => *refusal = refusal.swapped(),
            _ => {}
        }
        self
    }
}

framed!(Refusal, Operand, Field, EmulationRefusal);

/// Bytes of shared memory that lie beside the stages; partial accumulators that share their memory
/// do not.
const fn beside_stages(needed: u32, stages: u32, stage: u32, partials: u32) -> u32 {
    if partials == needed { 0 } else { needed.saturating_sub(stages.saturating_mul(stage)) }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence().as_str())
    }
}

impl std::error::Error for Refusal {}
