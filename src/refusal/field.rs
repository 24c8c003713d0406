//! Fields of refusals, and parts of tiles and blocks, each with its words.

use super::Operand;
use crate::{
    refusal::const_sentence::Sentence,
    shape::{Axis, OperandKind, words::words},
};

macro_rules! fields {
    (
        knobs { $($Knob:ident $knob:literal;)* }
        words { $($Unit:ident $unit:literal;)* }
        operands { $($OfOperand:ident $of_operand:literal;)* }
        tiles { $($OfTile:ident $of_tile:literal;)* }
        others { $($Of:ident($inner:ident: $Inner:ty) [$($piece:tt)*];)* }
    ) => {
        /// The subject of a refusal: a knob, an argument, or a number that depends on them.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "each word defines its name")]
        pub enum Field {
            $($Knob,)*
            $($Unit,)*
            $($OfOperand(Operand),)*
            $($OfTile(OperandKind),)*
            $($Of($Inner),)*
        }

        impl Field {
            /// Returns the JSON name of the knob that sets the field.
            pub const fn knob(self) -> Option<&'static str> {
                match self {
                    $(Self::$Knob => Some($knob),)*
                    Self::Knob(name) => Some(name),
                    Self::Alignment(operand) => Some(alignment(operand)),
                    Self::Transform(OperandKind::A) => Some("transform_a"),
                    Self::Transform(OperandKind::B) => Some("transform_b"),
                    _ => None,
                }
            }

            /// Appends the words of the field to a sentence.
            pub(super) const fn append_to(self, s: Sentence) -> Sentence {
                match self {
                    $(Self::$Knob => s.push($knob),)*
                    $(Self::$Unit => s.push($unit),)*
                    $(Self::$OfOperand(operand) => s.push($of_operand).push(operand.name()),)*
                    $(Self::$OfTile(operand) => s.push($of_tile).push(operand.name()),)*
                    $(Self::$Of($inner) => fields!(@append s, $($piece)*),)*
                }
            }

            /// Returns the field in the other frame. Shapes belong to the kernel and stay.
            pub(super) const fn swapped(self) -> Self {
                match self {
                    $(Self::$OfOperand(operand) => Self::$OfOperand(operand.swapped()),)*
                    $(Self::$OfTile(operand) => Self::$OfTile(operand.other()),)*
                    Self::Alignment(operand) => Self::Alignment(operand.swapped()),
                    Self::Index(entry) => Self::Index(IndexEntry {
                        operand: entry.operand.swapped(),
                        number: entry.number,
                    }),
                    Self::Extent(axis) => Self::Extent(axis.swapped()),
                    other => other,
                }
            }
        }
    };
    (@append $s:expr, ) => { $s };
    (@append $s:expr, num $n:expr, $($rest:tt)*) => { fields!(@append $s.number($n as u64), $($rest)*) };
    (@append $s:expr, $words:expr, $($rest:tt)*) => { fields!(@append $s.push($words), $($rest)*) };
}

fields! {
    // Knobs have the names of the table in `src/nest/pins.rs`.
    knobs {
    Op "op";
    Arch "arch";
    Stages "stages";
    Decomposition "decomposition";
    Promotion "promotion";
    AOperand "a_operand";
    Saturate "saturate";
    Epilogue "epilogue";
    Mainloop "mainloop";
    SplitK "split_k";
    Swizzle "swizzle";
    Interleave "interleave";
    Unroll "unroll";
    BlocksPerSm "blocks_per_sm";
    Emulation "emulation";
    Pending "pending";
    }
    words {
    // Types and knobs.
    Types "element types";
    Compute "compute type of the epilogue";
    Mode "mode";
    Node "epilogue node";
    Batch "batch";
    // Tiles.
    WarpArea "warp M x N";
    WarpsOfABlock "warps in a block";
    ThreadsOfABlock "threads of a block";
    ThreadsOfAMultiprocessor "threads of a multiprocessor";
    BlocksOfAMultiprocessor "blocks of a multiprocessor";
    SharedBytesOfABlock "bytes of a block's shared memory";
    // The ring of stages and its roles.
    Consumers "consumers";
    BlocksOfACluster "blocks of a cluster";
    StagingBuffers "staging buffers";
    StagingBytes "bytes of a staging buffer";
    PartialBytes "bytes of a consumer's partial accumulators";
    VectorBytes "bytes of the vectors of a consumer's epilogue";
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
    ThreadRows "rows of a thread";
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
    CheckOfLists "check of group offsets or indices";
    Binding "binding of a call";
    GrowthOfWorkspace "growth of the workspace";
    Allocation "allocation of D";
    // Problems.
    Tiles "number of tiles";
    Workspace "workspace";
    NumbersOutside "count of numbers below the exponent range of f16x3";
    Gather "gathered access to D";
    TensorCorner "corner along dimension 0";
    Warpgroups "consumer warpgroups";
    WarpsOfConsumers "consumer warps";
    Size "size";
    Groups "number of groups";
    Indices "an index list";
    Products "number of GEMMs";
    Rows "number of rows";
    Columns "number of columns";
    RowsOfView "rows of a view";
    ColumnsOfView "columns of a view";
    }
    // A and B change places in the other frame.
    operands {
    Operand "";
    Layout "layout of ";
    Length "length of ";
    SizeOf "size of ";
    ShapeOf "shape of ";
    ColumnsOf "columns of ";
    StridesOf "strides of ";
    LeadingDimensionOf "leading dimension of ";
    BatchStrideOf "batch stride of ";
    AddressOf "address of ";
    ElementTypeOf "element type of ";
    NumbersOf "a number of ";
    MatricesOf "number of matrices of ";
    IndicesOf "indices of ";
    SplitOf "split of ";
    CopyBytes "asynchronous copy of ";
    CopyElements "asynchronous copy of ";
    SwizzleBlock "swizzle block of ";
    Run "contiguous extent of ";
    }
    tiles {
    Padding "padding of ";
    SwizzleBits "swizzle bits of ";
    SwizzleBase "swizzle base of ";
    SwizzleShift "swizzle shift of ";
    StageBytes "bytes per stage of ";
    Transform "transform of ";
    MultipliedType "multiplied type of ";
    }
    others {
    Knob(name: &'static str) [name,];
    Alignment(operand: Operand) [alignment(operand),];
    Scalar(scalar: Scalar) ["scalar ", scalar.name(),];
    GemmOfArray(number: usize) ["GEMM ", num number, " of the array",];
    OutputOfGemm(number: usize) ["D of GEMM ", num number,];
    Extent(axis: Axis) [axis.name(),];
    GroupOffset(number: u32) ["offset ", num number, " of the groups",];
    Index(entry: IndexEntry) ["index ", num entry.number, " of ", entry.operand.name(),];
    Threadblock(axis: Axis) ["threadblock ", axis.name(),];
    Warp(axis: Axis) ["warp ", axis.name(),];
    Instruction(axis: Axis) ["instruction ", axis.name(),];
    Cluster(axis: Axis) ["cluster ", axis.name(),];
    DimensionExtent(dimension: u8) ["extent of dimension ", num dimension,];
    DimensionStride(dimension: u8) ["stride of dimension ", num dimension, " in bytes",];
    BoxExtent(dimension: u8) ["box extent of dimension ", num dimension,];
    }
}

/// Returns the JSON name of the knob for the alignment of an operand. C and D share one knob.
const fn alignment(operand: Operand) -> &'static str {
    match operand {
        Operand::A => "align_a",
        Operand::B => "align_b",
        _ => "align_c",
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
        ThreadRows "rows of a thread";
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
        TypeOfSource "c with a type of its own; a matrix of another type than D is aux1 to aux4";
        TypeOfReduction "a reduction with a type of its own; reductions have the compute type";
        NotAResult "c or a vector as a result, or a reduction as an input";
        WrittenTwice "an operand that is written twice, or read and written";
        TwoTypes "an operand with two element types";
        TooManyOperands "more than five operands in addition to c";
        TooManyValues "more than eight named values";
        NotNamed "a value without a name that nothing reads";
        NoDefinition "a value without a definition before it";
        GateOfOthers "acc together with gate and up; an epilogue reads one column of B, or a gate's two";
        SumOfGate "a sum with gate and up; sum the result in another call";
        HalfOfGate "only one of gate and up; use acc for a single column of B";
        NotInOrder "values whose slots are not 0, 1, .. in the order of definitions";
    }
}

named! {
    /// The reason that a transpose cannot gather the elements of D.
    Ungathered {
        SecondOperand "C needs gathered access too";
        LanesAcross "lanes run across the rows of D";
    }
}

/// An entry of the index list of a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IndexEntry {
    /// The matrix.
    pub operand: Operand,
    /// The position in the list.
    pub number: u32,
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
    pub(super) const fn append_to(self, mut s: Sentence) -> Sentence {
        match self {
            Self::OneOf(values) => {
                let mut i = 0;
                while i < values.len() {
                    s = (if i == 0 { s } else { s.push(", ") }).number(values[i] as u64);
                    i += 1;
                }
                s
            }
            Self::Vector(elements) => s.number(elements as u64).push(" (16 bytes of TMA)"),
            Self::LanesTimesInstruction => s.push("2, 4, 8, and 16 times instruction M"),
        }
    }
}
