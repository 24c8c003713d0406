//! The sentence of each refusal.

use super::{Field, Refusal, Route, beside_stages};
use crate::{
    arch::OpKind,
    layout::Order,
    sentence::{Sentence, say},
};

impl Refusal {
    /// The refusal in words.
    pub const fn sentence(&self) -> Sentence {
        let s = Sentence::new();
        match *self {
            Self::NoSuchCombination { types, nearest } => {
                let s = say!(s, "no kernel multiplies ", of types);
                if types.differ_in_output(nearest) {
                    types.outputs_said_by(s.say("; D may be "))
                } else {
                    say!(s, "; try ", of nearest)
                }
            }
            Self::OfOtherUnits { types, op, other } => {
                let s = say!(s, "no kernel multiplies ", of types);
                match op {
                    OpKind::Simt => s.say(" on the CUDA cores: that is for tensor cores, op "),
                    OpKind::TensorOp => s.say(" on tensor cores: that is for the CUDA cores, op "),
                }
                .say(other.name())
            }
            Self::NoSuchOperation { types, op, arch, nearest } => {
                say!(s, "no kernel multiplies ", of types, " with op ", word op.name(), " on ", word arch.name(), "; try ", word nearest.name())
            }
            Self::OtherFamilysKnob { flag, mainloop, other } => {
                say!(s, word flag.0, " is not a knob of the ", word mainloop.0, " main loop; the ", word other.0, " one has it")
            }
            Self::KnobOfOtherUnits { flag, op, other } => {
                say!(s, word flag.0, " is not a knob of ", word kernels_of(op), "; ", word kernels_of(other), " have it: use op ", word other.name())
            }
            Self::OtherMainloop { mainloop, op, arch, nearest } => {
                say!(s, "with op ", word op.name(), " on ", word arch.name(), " no kernel of these types has mainloop = ", word mainloop.0, "; try ", word nearest.0)
            }
            Self::DoesNotNest { field, inner, value, of, nearest } => {
                say!(s, of field, " = ", number value, " is not a whole number of ", word inner.name(), " of ", number of, "; try ", number nearest)
            }
            Self::OutOfRange { field, value, least, most } => {
                let s = say!(s, of field, " = ", number value, " is out of range (", number least, " to ", number most, "); try ", number if value < least { least } else { most });
                match field {
                    Field::PingpongWarpgroups | Field::PingpongWarps => s.say(", or take --schedule cooperative"),
                    _ => s,
                }
            }
            Self::NotOneOf { field, value, legal, nearest } => {
                say!(s, of field, " = ", number value, " is not one of ", of legal, "; try ", number nearest)
            }
            Self::NotEven { field, value } => {
                say!(s, of field, " = ", number value, " is odd, and fragments alternate between two buffers; try ", number value as u64 + 1)
            }
            Self::NotMultiple { field, value, of, nearest } => {
                say!(s, of field, " = ", number value, " is not a multiple of ", number of, "; try ", number nearest)
            }
            Self::PipelinedStages { stages } => {
                say!(s, "stages = ", number stages, ", and the pipelined main loop has 2; the multistage one, on sm80 and newer, takes 2 to 16")
            }
            Self::NoChoice { field, mainloop, nearest } => {
                say!(s, of field, " is unsupported by the ", word mainloop.0, " main loop; try ", word nearest.0)
            }
            Self::OfTensorCores { field, nearest } => {
                say!(s, of field, " is a choice on tensor cores alone, and op = simt; take op tensorop, or ", word nearest.0)
            }
            Self::HopperAlone { mainloop, arch } => {
                say!(s, "the ", word mainloop.0, " main loop is made of instructions that sm90 alone has, and arch = ", word arch.name(), "; try sm90")
            }
            Self::OnTensorCores { mainloop, op } => {
                say!(s, "the ", word mainloop.0, " main loop multiplies all but f32 on tensor cores, and op = ", word op.name(), "; try tensorop")
            }
            Self::IsWarpSpecialized { mainloop } => {
                say!(s, "mainloop = ", word mainloop.0, " is warp-specialized, and a program of one schedule is not; try multistage")
            }
            Self::NoLoopToUnroll { groups, mainloop } => {
                say!(s, "unroll = ", number groups, ", and the ", word mainloop.0, " main loop schedules every k-block; unroll is full, or take the single-stage main loop")
            }
            Self::NoAsynchronousCopy { arch } => {
                say!(s, "the multistage main loop copies asynchronously, which ", word arch.name(), " cannot; sm80 and newer can, or take the pipelined one with 2 stages")
            }
            Self::GroupsNotStreamed => {
                say!(s, "K of groups is whole, and decomposition = streamk cuts it; try splitk")
            }
            Self::NoArrays => s.say(
                "the kernel reads what a pass makes of its operands, and a pass is of one product of an array; take mode = gemm",
            ),
            Self::NoMaps => {
                s.say("threads of this kernel read matrices by their addresses, and TMA takes no maps of them; take mode = array")
            }
            Self::NoLongArrays => s.say(
                "TMA reads a map of each matrix of an array, and parameters hold the addresses alone of so many; take mode = array or mapped-array",
            ),
            Self::CopyWidth { operand, bytes, element, nearest } => {
                let s = say!(s, "an asynchronous copy of ", word operand.name(), " would move ", number bytes, " bytes at a time (", word element.name(), "), and moves 4, 8 or 16");
                match nearest {
                    0 => s.say("; no alignment helps this tile, take the pipelined main loop"),
                    _ => say!(s, "; try alignment ", number nearest, ", or take the pipelined main loop"),
                }
            }
            Self::CopyNotWhole { operand, access, run, nearest } => {
                let s = say!(s, "an asynchronous copy of ", word operand.name(), " moves ", number access, " elements, and only ", number run, " of them lie side by side in this layout of shared memory");
                match nearest {
                    0 => s.say("; no alignment helps it, take another layout or the pipelined main loop"),
                    _ => say!(s, "; try alignment ", number nearest),
                }
            }
            Self::AccessDoesNotDivideTile { operand, access, extent, nearest } => {
                say!(s, "alignment of ", word operand.name(), " = ", number access, " does not divide the ", number extent, " contiguous elements of its tile; try ", number nearest)
            }
            Self::AccessApart { field, access, run } => {
                say!(s, of field, " = ", number access, ", and only ", number run, " elements lie side by side in this layout of shared memory; try ", number run)
            }
            Self::NotGathered { why } => {
                say!(s, "what is written cannot be gathered: ", word why.name(), "; take staging by padding, or swizzled")
            }
            Self::SwizzleBeyondRow { operand, chunk, row } => {
                say!(s, "the swizzle of ", word operand.name(), " moves elements within ", number chunk, ", which does not divide the tile's row of ", number row)
            }
            Self::Registers { needed, available, threads, blocks } => {
                say!(s, "a thread needs about ", number needed, " registers; with ", number threads, " threads a block and ", number blocks, word if blocks == 1 { " block" } else { " blocks" }, " a multiprocessor it can have ", number available, "; take a smaller warp tile", word if blocks == 1 { "" } else { ", fewer --blocks-per-sm" }, ", or --spills allowed")
            }
            Self::SharedMemory { needed, available, stages, stage, partials, blocks, arch } => {
                let s = s.say("a block needs ").number(needed as u64).say(" bytes of shared memory (");
                let beside = beside_stages(needed, stages, stage, partials);
                let s = if partials == needed {
                    s.say("the slices of K reduce ").number(partials as u64).say(" bytes")
                } else {
                    s.number(stages as u64).say(" stages of ").number(stage as u64)
                };
                let s = if beside > 0 { s.say(" and ").number(beside as u64).say(" beside them") } else { s };
                let s = say!(s, "); sm_", number arch, " has ", number available, " for each of ", number blocks, word if blocks == 1 { " block" } else { " blocks" });
                match self.stages_that_fit() {
                    Some(fit) => s.say("; try stages = ").number(fit as u64),
                    None => s.say("; take a smaller threadblock tile"),
                }
            }
            Self::Emulation(refusal) => refusal.sentence(),
            Self::Epilogue { why } => say!(s, "the epilogue is not an expression: ", word why.name()),
            Self::NothingToSaturate { accumulator } => {
                say!(s, "saturate = on is for sums of integers, and accumulators are of ", word accumulator.name(), "; take saturate = off, or elements of i8 or u8")
            }
            Self::Compute { compute, accumulator, c, nearest } => {
                say!(s, "an epilogue from ", word accumulator.name(), " to ", word c.name(), " cannot compute in ", word compute.name(), "; try ", word nearest.name())
            }
            Self::OtherMachine { mainloop, arch, sm } => {
                say!(s, "the ", word mainloop.0, " main loop is made of instructions that ", word arch.name(), " alone has; this machine has sm", number sm, ", where op simt has kernels")
            }
            Self::PtxTooOld { arch, ptx } => say!(
                s, "PTX of ", word ptx.name(), " does not have the instructions of ", word arch.name(),
                ", which the kernel uses; try ", word arch.name()
            ),
            Self::MachineTooOld { arch, sm } => {
                let s = say!(s, "the kernel uses instructions of ", word arch.name(), ", and the device is sm_", number sm);
                match sm {
                    0..70 => s.say("; no tag is as old"),
                    70..75 => s.say("; try arch sm70"),
                    75..80 => s.say("; try arch sm75"),
                    80..86 => s.say("; try arch sm80"),
                    86..89 => s.say("; try arch sm86"),
                    89 => s.say("; try arch sm89"),
                    _ => s.say("; try arch sm90"),
                }
            }
            Self::ClusterAlongBothAxes { m, n } => {
                say!(s, "cluster = ", number m, "x", number n, " shares operands along M and N; one of them must be 1: use ", number m, "x1 or 1x", number n)
            }
            Self::UnevenBoxes { axis, blocks, boxes, nearest } => {
                say!(s, of Field::Cluster(axis), " = ", number blocks, " blocks do not share the ", number boxes, " boxes of a tile evenly; try ", number nearest)
            }
            Self::ExtentTooLarge { field, value, most } => {
                say!(s, of field, " = ", number value, " is beyond the largest extent, ", number most)
            }
            Self::TooManyTiles { tiles, most, batch } => {
                let s = say!(s, "the problem has ", number tiles, " tiles, and a grid has at most ", number most, " thread blocks; ");
                // A larger tile cannot help if each product is one tile.
                s.say(if batch == tiles { "split the batch into several calls" } else { "use a larger tile" })
            }
            Self::LeadingDimension { operand, value, least, order } => {
                say!(s, "the leading dimension of ", word operand.name(), " = ", number value, " is below its ", word if order.is_row() { "number of columns" } else { "number of rows" }, "; try ", number least)
            }
            Self::TooShort { operand, length, needed, extents, leading, batch } => {
                let s = say!(s, word operand.name(), " has ", number length, " elements, and ");
                say!(matrices(s, extents, leading, batch), word if batch[0] == 1 { " takes " } else { ", take " }, number needed)
            }
            Self::Overflow { operand, extents, leading, batch } => {
                let s = say!(s, "the size of ", word operand.name(), ", ");
                matrices(s, extents, leading, batch).say(", is beyond 64 bits")
            }
            Self::OutOfMemory { needed, available } => {
                say!(s, "it takes ", number needed, " bytes, and ", number available, " bytes of memory are to be had; take a smaller problem")
            }
            Self::Overlap { operand } => {
                say!(s, "D overlaps ", word operand.name(), ", which is read while D is written; give D memory of its own")
            }
            Self::ArrayLength { operand, length, products } => {
                say!(s, "the array has ", number products as u64, word if products == 1 { " D" } else { " Ds" }, " and ", number length as u64, " of ", word operand.name(), "; try ", number products as u64)
            }
            Self::ArrayOfBatches => s.say("each product of an array has matrices of its own; leave out batch and groups"),
            Self::GroupsOfBatches => s.say("groups are the rows of one A and one D, and there is a batch of them; leave out batch"),
            Self::ArrayUnlike { product } => {
                say!(s, "product ", number product as u64, " of the array has other extents, pitches, vectors or scalars than product 0; give all of them the same")
            }
            Self::ArrayOverlaps { product, other } => {
                say!(s, "D of product ", number product as u64, " overlaps that of product ", number other as u64, "; give each product a D of its own")
            }
            Self::BatchOverlaps { value, nearest } => {
                say!(s, "the batch stride of D = ", number value, " makes matrices of the batch overlap; try ", number nearest)
            }
            Self::NotScaled { scalar } => {
                say!(s, "the kernel moves elements as they are, and the scalar ", word scalar.name(), " would change them; take one that combines in f32 or f64")
            }
            Self::NotFinite { scalar } => {
                say!(s, "the scalar ", word scalar.name(), " is not a finite number, and this epilogue computes in integers")
            }
            Self::MissingOperand { operand } => {
                say!(s, "the kernel reads ", word operand.name(), ", which the arguments do not give")
            }
            Self::UnreadVector { operand } => {
                say!(s, "the epilogue does not read ", word operand.name(), ", which the arguments pass; add ", word operand.name(), " to the epilogue, or do not pass it")
            }
            Self::UnreadSource { beta } => {
                say!(s, "the epilogue does not read C, which the arguments pass with beta = ", real beta, "; add beta * C to the epilogue, or pass beta = 0")
            }
            Self::UnreadScalar { scalar, value, neutral } => {
                say!(s, "the epilogue does not read ", word scalar.name(), " = ", real value, "; add ", word scalar.name(), " to the epilogue, or pass ", word scalar.name(), " = ", real neutral)
            }
            Self::UnknownNode { id } => {
                say!(s, "the epilogue has the node user_", hex id, ", which no one has registered in this process; call epilogue::register first")
            }
            Self::NodeOfF32 { node, compute } => {
                let s = say!(s, "the epilogue node `", word node.0, "` is a function of f32, and this epilogue computes in ", word compute.name());
                say!(s, ", of which f32 does not hold every number; give its Function the constant F64")
            }
            Self::NotPrepared => say!(
                s,
                "the kernel is not compiled yet, and a stream that is being captured cannot wait for it; call prepare before the capture"
            ),
            Self::GroupsCaptured => s.say(
                "offsets of groups that are to be checked are read back from the device, and a stream that is being captured cannot wait for them; take groups, whose kernel alone reads them, or groups_by_value",
            ),
            Self::OtherDevice { operand } => say!(s, word operand.name(), " lies on another device than D"),
            Self::Workspace { given, a, b, partials, needed } => {
                let s = routed(s.say("workspace = ").number(given).say(" bytes; this call"), a, "A");
                let [passes_a, passes_b] = [!matches!(a, Route::Direct), !matches!(b, Route::Direct)];
                let s = routed(if passes_a && passes_b { s.say(",") } else { s }, b, "B");
                let s = if partials && (passes_a || passes_b) { s.say(",") } else { s };
                // What takes no pass and adds no parts has offsets of groups brought there.
                let s = if partials || passes_a || passes_b { s } else { s.say(" brings offsets of groups") };
                if partials { s.say(" adds parts of K") } else { s }.say(" and takes ").number(needed)
            }
            Self::WorkspaceCaptured { given, needed } => {
                say!(s, "the workspace has ", number given, " bytes, and the call needs ", number needed, "; a stream that is being captured cannot allocate: reserve ", number needed, " bytes before the capture")
            }
            Self::NotOnStream { operand } => {
                say!(s, word operand.name(), " lies on another device than the stream, or the kernel does; take a stream of the device of both")
            }
            Self::ShorterThanLayout { operand, length, needed } => {
                say!(s, word operand.name(), " has ", number length, " elements, and its layout reaches ", number needed, "; give it that many at least")
            }
            Self::WrittenWhileRead { written, read } => {
                say!(s, word written.name(), " overlaps ", word read.name(), ", which is read while ", word written.name(), " is written; give ", word written.name(), " memory of its own")
            }
            Self::ElementType { operand, given, wanted } => {
                say!(s, word operand.name(), " holds ", word given.name(), ", and the kernel takes ", word wanted.name(), " there; give it elements of ", word wanted.name())
            }
            Self::ElementAddress { operand, element, beyond, bytes } => {
                say!(s, word operand.name(), " begins ", number beyond, word if beyond == 1 { " byte" } else { " bytes" }, " behind a multiple of ", number bytes, ", where elements of ", word element.name(), " lie; begin it at one")
            }
            Self::ElementBytes { given, bytes } => {
                say!(s, "a matrix of ", word given.name(), " was given where the kernel takes elements of ", number bytes, word if bytes == 1 { " byte" } else { " bytes" })
            }
            Self::Strides { operand, strides: [down, across], order } => {
                let s = say!(s, "rows of ", word operand.name(), " are ", number down, " elements apart, and its columns ", number across);
                match order {
                    None => s.say("; one of the two has to be 1"),
                    Some(Order::Row) => s.say(", where the kernel is of row-major ones; columns have to be 1 element apart"),
                    Some(Order::Col) => s.say(", where the kernel is of column-major ones; rows have to be 1 element apart"),
                }
            }
            Self::InnerExtents { columns_of_a, rows_of_b } => {
                say!(s, "A has ", number columns_of_a as u64, " columns, and B has ", number rows_of_b as u64, " rows; both must be K")
            }
            Self::Shape { operand, given, wanted } => {
                let s = shape(say!(s, word operand.name(), " is "), given);
                shape(s.say(", and this GEMM needs "), wanted)
            }
            Self::NegativeStride { operand, strides: [down, across] } => {
                let s = signed(say!(s, "the strides of ", word operand.name(), " = "), down);
                signed(s.say(", "), across).say("; strides must be 1 or greater, so copy the matrix in ascending order")
            }
            Self::StridesOfView { operand } => {
                say!(s, word operand.name(), " is a view with strides, and the call sets other strides for it; set the strides of the view only")
            }
            Self::MatrixTooLarge { extents, element } => {
                shape(say!(s, "no memory for a matrix of ", word element.name(), ", "), extents).say("; try a smaller one")
            }
            Self::WrongLength { length, extents } => {
                let s = say!(s, "the matrix has ", number length as u64, " elements, and its shape is ");
                shape(s, extents).say("; pass as many elements as the shape has")
            }
            Self::NullPointer { length } => {
                say!(s, "the device address = 0, and the memory has ", number length as u64, " elements; pass the address of an allocation")
            }
            Self::AllocationCaptured { length, element } => {
                say!(s, "the matrix needs memory for ", number length as u64, " elements of ", word element.name(), ", and a stream that is being captured cannot allocate; allocate D before the capture, and call gemm")
            }
            Self::TensorStride { operand, field, value, of, nearest } => {
                say!(s, "the ", of field, " of ", word operand.name(), " = ", number value, " is not a multiple of ", number of, word if of == 1 { " element" } else { " elements" }, ", which are the 16 bytes of which TMA's strides are multiples; try ", number nearest)
            }
            Self::TensorCorner { value, of, nearest } => {
                let s = signed(s.say("corner along dimension 0 = "), value as isize);
                signed(
                    say!(s, " is not a multiple of ", number of, " elements, which are the 16 bytes at a multiple of which TMA begins a row; try "),
                    nearest as isize,
                )
            }
            Self::PartlyShared { operand } => {
                say!(s, "D and ", word operand.name(), " share some of their memory but not all of it; pass one matrix, or two that are apart")
            }
        }
    }
}

/// Matrices of a batch, so many and so many elements apart, or the only one.
const fn matrices(
    s: Sentence,
    [rows, columns]: [usize; 2],
    leading: usize,
    [count, apart]: [usize; 2],
) -> Sentence {
    let s = if count == 1 { s } else { say!(s, number count, " matrices of ") };
    let s = say!(s, number rows, " x ", number columns, " with a leading dimension of ", number leading);
    if count == 1 { s } else { say!(s, ", each ", number apart, " elements behind the one before") }
}

/// What becomes of an operand before the kernel; nothing of one that it reads where it lies.
const fn routed(s: Sentence, route: Route, operand: &'static str) -> Sentence {
    match route {
        Route::Direct => s,
        Route::Repacked => s.say(" repacks ").say(operand),
        Route::Transposed => s.say(" transposes ").say(operand),
        Route::Decomposed => s.say(" decomposes ").say(operand),
    }
}

/// A number with its sign, if negative.
const fn signed(s: Sentence, value: isize) -> Sentence {
    if value < 0 { s.say("-") } else { s }.number(value.unsigned_abs() as u64)
}

/// Rows and columns.
const fn shape(s: Sentence, [rows, columns]: [usize; 2]) -> Sentence {
    s.number(rows as u64).say(" x ").number(columns as u64)
}

/// Kernels on some units.
const fn kernels_of(op: OpKind) -> &'static str {
    match op {
        OpKind::Simt => "CUDA-core kernels",
        OpKind::TensorOp => "tensor-core kernels",
    }
}
