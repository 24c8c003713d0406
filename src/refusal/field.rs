//! Fields of refusals, and parts of tiles and blocks, each with its words.

use super::Operand;
use crate::{
    operand::{Axis, OperandKind},
    sentence::Sentence,
    words::words,
};

macro_rules! fields {
    (
        unit { $($Unit:ident $unit:literal;)* }
        of { $($Of:ident($inner:ident: $Inner:ty) [$($piece:tt)*];)* }
    ) => {
        /// The subject of a refusal: a knob, an argument, or a number that depends on them.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "each word defines its name")]
        pub enum Field {
            $($Unit,)*
            $($Of($Inner),)*
        }

        impl Field {
            /// Appends the words of the field to a sentence.
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
    // Types and knobs.
    Types "element types";
    Compute "compute type of the epilogue";
    Op "op";
    Arch "arch";
    Mode "mode";
    Stages "stages";
    Decomposition "decomposition";
    Promotion "promotion";
    AOperand "a_operand";
    Saturate "saturate";
    Epilogue "epilogue";
    Node "epilogue node";
    Batch "batch";
    Mainloop "mainloop";
    SplitK "split_k";
    Swizzle "swizzle";
    Interleave "interleave";
    Unroll "unroll";
    BlocksPerSm "blocks per multiprocessor";
    Emulation "emulation";
    // Tiles.
    WarpArea "warp M x N";
    WarpsOfABlock "warps in a block";
    ThreadsOfABlock "threads of a block";
    ThreadsOfAMultiprocessor "threads of a multiprocessor";
    SharedBytesOfABlock "bytes of a block's shared memory";
    // The ring of stages and its roles.
    Consumers "consumers";
    BlocksOfACluster "blocks of a cluster";
    StagingBuffers "staging buffers";
    StagingBytes "bytes of a staging buffer";
    PartBytes "bytes of a consumer's partial accumulators";
    Pending "pending";
    // Tensor maps and their copies.
    TensorRank "rank of the tensor map";
    TensorReach "bytes that the tensor reaches";
    TensorAddress "address of the tensor";
    BoxBytes "box bytes";
    InnerBoxBytes "inner box bytes";
    SharedAddress "shared memory address";
    CopyAddress "address of the copy";
    // Matrix descriptors.
    DescriptorBytes "bytes of a matrix descriptor";
    // Transposes.
    ElementBytes "bytes of an element";
    AccessToA "access to A";
    AccessToD "access to D";
    Turn "turn";
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
    // Machines and streams.
    ComputeCapability "compute capability";
    Ptx "PTX";
    RegistersPerThread "registers per thread";
    SharedMemoryOfABlock "shared memory of a block";
    HostMemory "host memory";
    Matrix "matrix";
    Compilation "compilation of the kernel";
    CheckOfOffsets "check of group offsets";
    GrowthOfWorkspace "growth of the workspace";
    Allocation "allocation of a product";
    // Problems.
    Tiles "number of tiles";
    Workspace "workspace";
    NumbersOutside "numbers below the exponent range of f16x3";
    Gather "gathered access to D";
    TensorCorner "corner along dimension 0";
    Warpgroups "consumer warpgroups";
    WarpsOfConsumers "consumer warps";
    Size "size";
    Groups "number of groups";
    Products "number of GEMMs";
    Rows "number of rows";
    Columns "number of columns";
    RowsOfView "rows of a view";
    ColumnsOfView "columns of a view";
    }
    of {
    Knob(name: &'static str) [name,];
    Layout(operand: Operand) ["layout of ", operand.name(),];
    Operand(operand: Operand) [operand.name(),];
    Scalar(scalar: Scalar) ["scalar ", scalar.name(),];
    Length(operand: Operand) ["length of ", operand.name(),];
    SizeOf(operand: Operand) ["size of ", operand.name(),];
    ShapeOf(operand: Operand) ["shape of ", operand.name(),];
    ColumnsOf(operand: Operand) ["columns of ", operand.name(),];
    StridesOf(operand: Operand) ["strides of ", operand.name(),];
    LeadingDimensionOf(operand: Operand) ["leading dimension of ", operand.name(),];
    BatchStrideOf(operand: Operand) ["batch stride of ", operand.name(),];
    AddressOf(operand: Operand) ["address of ", operand.name(),];
    ElementTypeOf(operand: Operand) ["element type of ", operand.name(),];
    NumbersOf(operand: Operand) ["a number of ", operand.name(),];
    MatricesOf(operand: Operand) ["matrices of ", operand.name(),];
    CopyBytes(operand: Operand) ["asynchronous copy of ", operand.name(),];
    CopyElements(operand: Operand) ["asynchronous copy of ", operand.name(),];
    SwizzleBlock(operand: Operand) ["swizzle block of ", operand.name(),];
    GemmOfArray(number: usize) ["GEMM ", num number, " of the array",];
    OutputOfGemm(number: usize) ["D of GEMM ", num number,];
    Extent(axis: Axis) [axis.name(),];
    GroupOffset(number: u32) ["offset ", num number, " of the groups",];
    Threadblock(axis: Axis) ["threadblock ", axis.name(),];
    Warp(axis: Axis) ["warp ", axis.name(),];
    Instruction(axis: Axis) ["instruction ", axis.name(),];
    Cluster(axis: Axis) ["cluster ", axis.name(),];
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
    }
}

impl Field {
    /// Returns the JSON name of the knob that sets the field.
    pub const fn knob(self) -> Option<&'static str> {
        Some(match self {
            Self::Knob(name) => name,
            Self::Op => "op",
            Self::Arch => "arch",
            Self::Stages => "stages",
            Self::Mainloop => "mainloop",
            Self::SplitK => "split_k",
            Self::Decomposition => "decomposition",
            Self::Swizzle => "swizzle",
            Self::Interleave => "interleave",
            Self::Unroll => "unroll",
            Self::BlocksPerSm => "blocks_per_sm",
            Self::Emulation => "emulation",
            Self::Promotion => "promotion",
            Self::AOperand => "a_operand",
            Self::Saturate => "saturate",
            Self::Pending => "pending",
            Self::Epilogue => "epilogue",
            Self::Alignment(Operand::A) => "align_a",
            Self::Alignment(Operand::B) => "align_b",
            Self::Alignment(Operand::C) => "align_c",
            _ => return None,
        })
    }

    /// Returns the field in the other frame. Shapes belong to the kernel and stay.
    pub(super) const fn swapped(self) -> Self {
        match self {
            Self::Extent(axis) => Self::Extent(axis.swapped()),
            Self::Layout(operand) => Self::Layout(operand.swapped()),
            Self::Operand(operand) => Self::Operand(operand.swapped()),
            Self::Length(operand) => Self::Length(operand.swapped()),
            Self::SizeOf(operand) => Self::SizeOf(operand.swapped()),
            Self::ShapeOf(operand) => Self::ShapeOf(operand.swapped()),
            Self::StridesOf(operand) => Self::StridesOf(operand.swapped()),
            Self::LeadingDimensionOf(operand) => Self::LeadingDimensionOf(operand.swapped()),
            Self::BatchStrideOf(operand) => Self::BatchStrideOf(operand.swapped()),
            Self::AddressOf(operand) => Self::AddressOf(operand.swapped()),
            Self::ElementTypeOf(operand) => Self::ElementTypeOf(operand.swapped()),
            Self::NumbersOf(operand) => Self::NumbersOf(operand.swapped()),
            Self::CopyBytes(operand) => Self::CopyBytes(operand.swapped()),
            Self::CopyElements(operand) => Self::CopyElements(operand.swapped()),
            Self::SwizzleBlock(operand) => Self::SwizzleBlock(operand.swapped()),
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
            #[allow(missing_docs, reason = "each word defines its name")]
            pub enum $Name {
                $($Variant = $words,)*
            }
        }
    };
}

named! {
    /// A part of a tile or a block, which is a whole number of parts.
    Part {
        Warp "warp tiles";
        WarpOfThreads "warps";
        TileColumn "tile columns";
        Turn "turns";
        AccessToA "accesses to A";
        AccessToD "accesses to D";
        BlockOfThreads "blocks of threads";
        LineOfPieces "lines of pieces";
        BoxesOfATile "boxes of a tile";
        ContiguousElements "contiguous elements of the tile";
        FragmentBuffers "fragment buffers";
    }
}

named! {
    /// The reason that an epilogue is malformed.
    Malformed {
        TooLong "more than 32 nodes";
        Hole "an empty node";
        ScalarBeyond "a scalar beyond s7";
        NoOperand "a node without operands";
        ScaledByNoScalar "a factor of a node that is not a scalar";
        NotOneResult "more than one result";
    }
}

named! {
    /// The reason that a transpose cannot gather the elements of D.
    Ungathered {
        SecondOperand "B needs gathered access too";
        LanesAcross "lanes run across the rows of D";
    }
}

/// The number of a scalar of an epilogue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar(pub u8);

impl Scalar {
    /// The number of scalars.
    pub const COUNT: usize = 8;
    /// Scales A B.
    pub const ALPHA: Self = Self(0);
    /// Scales C.
    pub const BETA: Self = Self(1);

    /// Returns the name, as arguments and expressions spell it.
    pub const fn name(self) -> &'static str {
        ["alpha", "beta", "s2", "s3", "s4", "s5", "s6", "s7"][self.0 as usize % Self::COUNT]
    }
}

/// The accepted values of a field, as a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Legal {
    /// These values.
    OneOf(&'static [u32]),
    /// The number of elements of a vector of 16 bytes.
    Vector(u32),
    /// 2, 4, 8, or 16 times the M of the instruction.
    LanesTimesInstruction,
}

impl Legal {
    /// Appends the values to a sentence.
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
            Self::Vector(elements) => s.number(elements as u64).say(" (16 bytes of TMA)"),
            Self::LanesTimesInstruction => s.say("2, 4, 8, and 16 times instruction M"),
        }
    }
}
