//! What a refusal is about: fields and parts of descriptions and calls, as values, each with its
//! words.

use super::Operand;
use crate::words::words;
use crate::{
    operand::{Axis, OperandKind},
    sentence::Sentence,
};

macro_rules! fields {
    (
        unit { $($Unit:ident $unit:literal;)* }
        of { $($Of:ident($inner:ident: $Inner:ty) [$($piece:tt)*];)* }
    ) => {
        /// A number or a choice that a refusal is about: a knob, or what follows from some.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the words beside each name say what it is")]
        pub enum Field {
            $($Unit,)*
            $($Of($Inner),)*
        }

        impl Field {
            /// The field's words behind `s`.
            pub(super) const fn said_by(self, s: Sentence) -> Sentence {
                match self {
                    $(Self::$Unit => s.say($unit),)*
                    $(Self::$Of($inner) => fields!(@say s, $($piece)*),)*
                }
            }
        }
    };
    (@say $s:expr, ) => { $s };
    (@say $s:expr, num $n:expr, $($rest:tt)*) => { fields!(@say $s.number($n as u64), $($rest)*) };
    (@say $s:expr, $words:expr, $($rest:tt)*) => { fields!(@say $s.say($words), $($rest)*) };
}

fields! {
    unit {
    // Knobs.
    Stages "stages";
    OpTensorOp "op tensorop";
    Mainloop "mainloop";
    SplitK "split_k";
    SplitKOfThisK "split_k, whose parts are a k-tile of K at least,";
    SplitKOfGroups "split_k of groups";
    SplitKOfWholeTiles "split_k beside decomposition dataparallel";
    SplitKOfStreams "split_k beside decomposition streamk";
    DecompositionByClusters "decomposition splitkcluster";
    DecompositionInParallel "decomposition splitkparallel";
    SplitKOfClusters "split_k beside decomposition splitkcluster";
    Swizzle "swizzle";
    Interleave "interleave";
    Unroll "unroll";
    BlocksPerSm "blocks per multiprocessor";
    Emulation "emulation";
    PromotionOfOthers "promotion of other accumulators than those of fp8 in f32, and of parts of f32,";
    AOperandUndecided "a_operand = auto of a description that was not made of knobs";
    ColumnMajorDOfThreads "layout_c = col where threads multiply";
    FromRegisters "a_operand = registers";
    FromRegistersOfParts "a_operand = registers of parts, which are K-major,";
    FromRegistersPromoted "a_operand = registers beside promotion";
    FromRegistersOf16Bits "a_operand = registers of 16-bit elements, which tensor cores read in either order,";
    // Tiles.
    WarpArea "warp M x N";
    WarpsOfABlock "warps in a block";
    ThreadsOfABlock "threads of a block";
    ThreadsOfAMultiprocessor "threads of a multiprocessor";
    SharedBytesOfABlock "bytes of a block's shared memory";
    ConsumerWarpgroups "warpgroups that multiply";
    PingpongWarpgroups "warpgroups of a tile that pingpong gives to one";
    ConsumerWarps "warps that multiply, in warpgroups of 4";
    PingpongWarps "warps of a tile that pingpong gives to one warpgroup";
    WarpMFromRegisters "warp M where A comes from registers";
    ThreadblockMFromRegisters "threadblock M where A comes from registers";
    ThreadblockKInKilobytes "threadblock K where stages are whole kilobytes";
    InstructionNPromoted "instruction N where stages are promoted";
    // The ring of stages and its roles.
    Consumers "consumers";
    BlocksOfACluster "blocks of a cluster";
    StagingBuffers "staging buffers";
    StagingBytes "bytes of a staging buffer";
    PartBytes "bytes of a consumer's partial accumulators";
    Pending "pending";
    PendingFromRegisters "pending where A comes from registers";
    // Tensor maps and their copies.
    TensorRank "rank of the tensor map";
    TensorReach "bytes that the tensor reaches";
    TensorAddress "address of the tensor";
    BoxBytes "box bytes";
    InnerBoxBytes "inner box bytes";
    SharedAddress "shared memory address";
    LeadingDimension "leading dimension";
    BatchStride "stride of the batch";
    CopyAddress "address of the copy";
    // Matrix descriptors.
    DescriptorBytes "bytes of a matrix descriptor";
    // Transposes.
    ElementBytes "bytes of an element";
    AccessToA "access to A";
    AccessToD "access to D";
    DirectAccessToD "access to D without shared memory";
    Turn "turn";
    GatheredTurn "turn of what is gathered";
    TileRows "rows of a tile";
    TileColumns "columns of a tile";
    GroupSize "group size";
    PaddingOfTile "padding";
    SwizzleBitsOfTile "swizzle bits";
    SwizzleBaseOfTile "swizzle base";
    SwizzleShiftOfTile "swizzle shift";
    PiecesOfA "pieces of A in a tile";
    PiecesOfD "pieces of D in a tile";
    ReadsOfAThread "reads of a thread";
    // Problems.
    Size "size";
    Groups "the number of groups";
    Products "the number of products";
    Rows "the number of rows";
    Columns "the number of columns";
    RowsOfView "rows of a view";
    ColumnsOfView "columns of a view";
    }
    of {
    Extent(axis: Axis) [axis.name(),];
    GroupOffset(number: u32) ["offset ", num number, " of the groups",];
    Threadblock(axis: Axis) ["threadblock ", axis.name(),];
    Warp(axis: Axis) ["warp ", axis.name(),];
    Instruction(axis: Axis) ["instruction ", axis.name(),];
    Cluster(axis: Axis) ["cluster ", axis.name(),];
    ClusterBesideParts(axis: Axis) ["cluster ", axis.name(), " beside decomposition splitkcluster",];
    InstructionAlong(along: InstructionAlong) ["instruction ", along.axis.name(), " where ", along.operand.name(), " is ", along.operand.axis().name(), "-major",];
    FromRegistersAlongK(operand: OperandKind) ["a_operand = registers where ", operand.name(), " is K-major",];
    Alignment(operand: Operand) ["alignment of ", operand.name(),];
    Run(operand: Operand) ["run of ", operand.name(),];
    Padding(operand: OperandKind) ["padding of ", operand.name(),];
    SwizzleBits(operand: OperandKind) ["swizzle bits of ", operand.name(),];
    SwizzleBase(operand: OperandKind) ["swizzle base of ", operand.name(),];
    SwizzleShift(operand: OperandKind) ["swizzle shift of ", operand.name(),];
    StageBytes(operand: OperandKind) ["bytes of ", operand.name(), " in a stage",];
    DimensionExtent(dimension: u8) ["extent of dimension ", num dimension,];
    DimensionStride(dimension: u8) ["stride of dimension ", num dimension, " in bytes",];
    BoxExtent(dimension: u8) ["box extent of dimension ", num dimension,];
    InnerBoxBytesSwizzled(bytes: u8) ["inner box bytes under the swizzle of ", num bytes, " bytes",];
    }
}

/// An extent of an instruction that reads an operand along its MN: of the kernel's axis, of the
/// user's operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InstructionAlong {
    /// The axis of the instruction.
    pub axis: Axis,
    /// The operand that is contiguous along its M or N.
    pub operand: OperandKind,
}

impl Field {
    /// The same field of the problem with A and B in each other's place. Shapes stay the kernel's.
    pub(super) const fn swapped(self) -> Self {
        match self {
            Self::Extent(axis) => Self::Extent(axis.swapped()),
            Self::InstructionAlong(along) => {
                Self::InstructionAlong(InstructionAlong { operand: along.operand.other(), ..along })
            }
            Self::FromRegistersAlongK(operand) => Self::FromRegistersAlongK(operand.other()),
            Self::Alignment(operand) => Self::Alignment(operand.swapped()),
            Self::Padding(operand) => Self::Padding(operand.other()),
            Self::SwizzleBits(operand) => Self::SwizzleBits(operand.other()),
            Self::SwizzleBase(operand) => Self::SwizzleBase(operand.other()),
            Self::SwizzleShift(operand) => Self::SwizzleShift(operand.other()),
            other => other,
        }
    }
}

macro_rules! named {
    ($(#[$doc:meta])* $Name:ident { $($Variant:ident $words:literal;)* }) => {
        words! {
            $(#[$doc])*
            #[non_exhaustive]
            #[allow(missing_docs, reason = "the words beside each name say what it is")]
            pub enum $Name {
                $($Variant = $words,)*
            }
        }
    };
}

named! {
    /// What a tile or a block is to be a whole number of.
    Part {
        Warp "warp tiles";
        WarpOfThreads "warps";
        TileColumn "tile columns";
        Turn "turns";
        AccessToA "accesses to A";
        AccessToD "accesses to D";
        BlockOfThreads "blocks of threads";
        LineOfPieces "lines of pieces";
    }
}

named! {
    /// Why an epilogue is no expression.
    Malformed {
        TooLong "it has more than 32 nodes";
        Hole "it has a hole in it";
        ScalarBeyond "it names a scalar beyond s7";
        NoOperand "a node lacks what it is to be applied to";
        ScaledByNoScalar "it scales by what is not a scalar";
        NotOneResult "its nodes do not end in one result";
    }
}

named! {
    /// Why what is written cannot be gathered.
    Ungathered {
        SecondOperand "B would have to be gathered too";
        LanesAcross "lanes run across D's rows, which begin at a place of a word each";
    }
}

/// The word of a knob's value, as flags and JSON spell it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Word(pub &'static str);

/// A scalar of an epilogue, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar(pub u8);

impl Scalar {
    /// Scalars that an epilogue may name.
    pub const COUNT: usize = 8;
    /// Scales A B.
    pub const ALPHA: Self = Self(0);
    /// Scales C.
    pub const BETA: Self = Self(1);

    /// Its name, as arguments and expressions spell it.
    pub const fn name(self) -> &'static str {
        ["alpha", "beta", "s2", "s3", "s4", "s5", "s6", "s7"][self.0 as usize % Self::COUNT]
    }
}

/// The legal values of a field that are no range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Legal {
    /// These.
    OneOf(&'static [u32]),
    /// So many elements: those of a vector of 16 bytes.
    Vector(u32),
    /// What lanes of 2, 4, 8 and 16 rows multiply.
    LanesTimesInstruction,
}

impl Legal {
    /// The values behind `s`.
    pub(super) const fn said_by(self, mut s: Sentence) -> Sentence {
        match self {
            Self::OneOf(values) => {
                let mut i = 0;
                while i < values.len() {
                    s = (if i == 0 { s } else { s.say(", ") }).number(values[i] as u64);
                    i += 1;
                }
                s
            }
            Self::Vector(elements) => {
                s.number(elements as u64).say(", which are the 16 bytes of TMA")
            }
            Self::LanesTimesInstruction => s.say("2, 4, 8 and 16 times instruction M"),
        }
    }
}
