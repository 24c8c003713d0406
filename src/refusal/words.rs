//! The sentence of each refusal.

use super::Refusal;
use crate::{arch::OpKind, device::Route, numeric::ElementKind, sentence::Sentence};

impl Refusal {
    /// The refusal in words.
    pub const fn sentence(&self) -> Sentence {
        let s = Sentence::new();
        match *self {
            Self::NoSuchCombination { a, b, accumulator, c } => multiplies(a, b, accumulator, c)
                .say(": A and B share a type, f32 and f64 accumulate in themselves, f16 in f16 or f32, bf16 in f32, integers in i32"),
            Self::OfOtherUnits { a, b, accumulator, c, op, other } => {
                let s = multiplies(a, b, accumulator, c);
                match op {
                    OpKind::Simt => s.say(" on the CUDA cores: that is for tensor cores, op "),
                    OpKind::TensorOp => s.say(" on tensor cores: that is for the CUDA cores, op "),
                }
                .say(other.name())
            }
            Self::NoSuchOperation { op, arch } => s
                .say("op ")
                .say(op.name())
                .say(" on ")
                .say(arch.name())
                .say(" has no kernel yet; op simt has, for every architecture"),
            Self::DoesNotNest { outer, inner, axis, value, of, nearest } => s
                .say(outer)
                .say(" ")
                .say(axis)
                .say(" = ")
                .number(value as u64)
                .say(" is not a whole number of ")
                .say(inner)
                .say(" tiles of ")
                .number(of as u64)
                .say("; the nearest is ")
                .number(nearest as u64),
            Self::OutOfRange { field, value, least, most } => s
                .say(field)
                .say(" = ")
                .number(value)
                .say(" is not from ")
                .number(least)
                .say(" to ")
                .number(most)
                .say("; the nearest is ")
                .number(if value < least { least } else { most }),
            Self::NotOneOf { field, value, legal, nearest } => s
                .say(field)
                .say(" = ")
                .number(value)
                .say(" is not one of ")
                .say(legal)
                .say("; the nearest is ")
                .number(nearest),
            Self::NotEven { field, value } => s
                .say(field)
                .say(" = ")
                .number(value as u64)
                .say(" is odd, and fragments alternate between two buffers; the nearest is ")
                .number(value as u64 + 1),
            Self::NotMultiple { field, value, of, nearest } => s
                .say(field)
                .say(" = ")
                .number(value)
                .say(" is no multiple of ")
                .number(of)
                .say("; the nearest is ")
                .number(nearest),
            Self::PipelinedStages { stages } => s
                .say("stages = ")
                .number(stages as u64)
                .say(", and the pipelined main loop has 2; the multistage one, on sm80 and newer, takes 2 to 16"),
            Self::NoChoice { field, mainloop, nearest } => {
                s.say(field).say(" is no choice of the ").say(mainloop).say(" main loop; the nearest is ").say(nearest)
            }
            Self::HopperAlone { mainloop, arch } => s
                .say("the ")
                .say(mainloop)
                .say(" main loop is made of instructions that sm90 alone has; arch = ")
                .say(arch.name())
                .say(", the nearest is sm90"),
            Self::OnTensorCores { mainloop, op } => s
                .say("the ")
                .say(mainloop)
                .say(" main loop multiplies all but f32 on tensor cores; op = ")
                .say(op.name())
                .say(", the nearest is tensorop"),
            Self::HasRoles { mainloop } => s
                .say("mainloop = ")
                .say(mainloop)
                .say(" is run as a program of threads that follow one schedule, and its warpgroups have roles; the nearest is multistage"),
            Self::NoLoopToUnroll { groups, mainloop } => s
                .say("unroll = ")
                .number(groups as u64)
                .say(", and the ")
                .say(mainloop)
                .say(" main loop schedules every k-group; unroll is full, or take the single-stage main loop"),
            Self::NoAsynchronousCopy { arch } => s
                .say("the multistage main loop copies asynchronously, which ")
                .say(arch.name())
                .say(" cannot; sm80 and newer can, or take the pipelined one with 2 stages"),
            Self::CopyWidth { operand, bytes, element, nearest } => {
                let s = s.say("an asynchronous copy of ")
                .say(operand)
                .say(" would move ")
                .number(bytes as u64)
                .say(" bytes at a time (")
                .say(element.name())
                .say("), and moves 4, 8 or 16");
                if nearest == 0 {
                    s.say("; no alignment helps this tile, take the pipelined main loop")
                } else {
                    s.say("; the nearest alignment is ").number(nearest as u64).say(", or take the pipelined main loop")
                }
            }
            Self::CopyNotWhole { operand, access, run, nearest } => {
                let s = s.say("an asynchronous copy of ")
                .say(operand)
                .say(" moves ")
                .number(access as u64)
                .say(" elements, and only ")
                .number(run as u64)
                .say(" of them lie side by side in this layout of shared memory");
                if nearest == 0 {
                    s.say("; no alignment helps it, take another layout or the pipelined main loop")
                } else {
                    s.say("; the nearest alignment is ").number(nearest as u64)
                }
            }
            Self::AccessDoesNotDivideTile { operand, access, extent, nearest } => s
                .say("alignment of ")
                .say(operand)
                .say(" = ")
                .number(access as u64)
                .say(" does not divide the ")
                .number(extent as u64)
                .say(" contiguous elements of its tile; the nearest is ")
                .number(nearest as u64),
            Self::AccessApart { field, access, run } => s
                .say(field)
                .say(" = ")
                .number(access as u64)
                .say(", and only ")
                .number(run as u64)
                .say(" elements lie side by side in this layout of shared memory; the nearest is ")
                .number(run as u64),
            Self::NotGathered { what } => {
                s.say("what is written cannot be gathered: ").say(what).say("; take staging by padding, or swizzled")
            }
            Self::SwizzleBeyondRow { operand, chunk, row } => s
                .say("the swizzle of ")
                .say(operand)
                .say(" moves elements within ")
                .number(chunk as u64)
                .say(", which does not divide the tile's row of ")
                .number(row as u64),
            Self::Registers { needed, available, threads, blocks } => s
                .say("a thread needs about ")
                .number(needed as u64)
                .say(" registers; with ")
                .number(threads as u64)
                .say(" threads a block and ")
                .number(blocks as u64)
                .say(if blocks == 1 { " block" } else { " blocks" })
                .say(" a multiprocessor it can have ")
                .number(available as u64)
                .say("; take a smaller warp tile, fewer blocks, or allow spills"),
            Self::SharedMemory { needed, available, stages, stage, deposit, blocks, arch } => {
                let s = s.say("a block needs ").number(needed as u64).say(" bytes of shared memory (");
                // What the stages do not share with a deposit lies beside them.
                let beside = if deposit == needed { 0 } else { needed.saturating_sub(stages.saturating_mul(stage)) };
                let left = available.saturating_sub(beside);
                let s = if deposit == needed {
                    s.say("the slices of K hand over ").number(deposit as u64).say(" bytes")
                } else {
                    s.number(stages as u64).say(" stages of ").number(stage as u64)
                };
                let s = if beside > 0 { s.say(" and ").number(beside as u64).say(" beside them") } else { s };
                let s = s
                    .say("); sm_")
                    .number(arch as u64)
                    .say(" has ")
                    .number(available as u64)
                    .say(" for each of ")
                    .number(blocks as u64)
                    .say(if blocks == 1 { " block" } else { " blocks" });
                if stage != 0 && left / stage >= 2 && deposit <= available {
                    s.say("; the nearest number of stages is ").number((left / stage) as u64)
                } else {
                    s.say("; take a smaller threadblock tile")
                }
            }
            Self::Split(refusal) => refusal.sentence(),
            Self::Epilogue { why } => s.say("the epilogue is not an expression: ").say(why),
            Self::Compute { compute, accumulator, c, nearest } => s
                .say("an epilogue from ")
                .say(accumulator.name())
                .say(" to ")
                .say(c.name())
                .say(" cannot compute in ")
                .say(compute)
                .say("; the nearest is ")
                .say(nearest),
            Self::OtherMachine { mainloop, arch, sm } => s
                .say("the ")
                .say(mainloop)
                .say(" main loop is made of instructions that ")
                .say(arch.name())
                .say(" alone has; this machine has sm")
                .number(sm as u64)
                .say(", where op simt has kernels"),
            Self::MachineTooOld { arch, sm } => s
                .say("the kernel uses instructions of ")
                .say(arch.name())
                .say(", and the device is sm_")
                .number(sm as u64)
                .say(match sm {
                    0..70 => "; no tag is as old",
                    _ => "; the nearest tag is ",
                })
                .say(match sm {
                    0..70 => "",
                    70..75 => "sm70",
                    75..80 => "sm75",
                    80..86 => "sm80",
                    86..89 => "sm86",
                    89 => "sm89",
                    _ => "sm90",
                }),
            Self::ExtentTooLarge { axis, value, most } => {
                s.say(axis).say(" = ").number(value as u64).say(" is beyond the largest extent, ").number(most)
            }
            Self::TooManyTiles { tiles, most } => s
                .say("the problem has ")
                .number(tiles)
                .say(" tiles, and a grid has at most ")
                .number(most)
                .say(" blocks; take a larger tile"),
            Self::LeadingDimension { operand, value, least, axis } => s
                .say("the leading dimension of ")
                .say(operand)
                .say(" = ")
                .number(value as u64)
                .say(" is below its ")
                .say(axis)
                .say("; the nearest is ")
                .number(least as u64),
            Self::TooShort { operand, length, needed, rows, columns, leading } => s
                .say(operand)
                .say(" has ")
                .number(length as u64)
                .say(" elements, and ")
                .number(rows as u64)
                .say(" x ")
                .number(columns as u64)
                .say(" with a leading dimension of ")
                .number(leading as u64)
                .say(" takes ")
                .number(if needed > u64::MAX as u128 { u64::MAX } else { needed as u64 }),
            Self::Overflow { operand, rows, columns, leading } => s
                .say("the size of ")
                .say(operand)
                .say(", ")
                .number(rows as u64)
                .say(" x ")
                .number(columns as u64)
                .say(" with a leading dimension of ")
                .number(leading as u64)
                .say(", is beyond 64 bits"),
            Self::OutOfMemory { needed, available } => s
                .say("the matrices take ")
                .number(needed)
                .say(" bytes, and ")
                .number(available)
                .say(" bytes of memory are to be had; take a smaller problem"),
            Self::Overlap { operand } => s
                .say("D overlaps ")
                .say(operand)
                .say(", which is read while D is written; give D memory of its own"),
            Self::BatchOverlaps { value, nearest } => s
                .say("the stride of D = ")
                .number(value as u64)
                .say(" makes matrices of the batch overlap; the nearest is ")
                .number(nearest),
            Self::NotScaled { scalar } => s
                .say("the kernel moves elements as they are, and the scalar ")
                .say(scalar)
                .say(" would change them; take one that combines in f32 or f64"),
            Self::NotFinite { scalar } => {
                s.say("the scalar ").say(scalar).say(" is not a finite number, and this epilogue computes in integers")
            }
            Self::MissingOperand { name } => s.say("the kernel reads ").say(name).say(", which the arguments do not give"),
            Self::UnknownNode { id } => s
                .say("the epilogue names the user function ")
                .number(id)
                .say(", which no one has registered in this process; call epilogue::register first"),
            Self::NotPrepared => s.say(
                "the kernel is not compiled yet, and a stream that is being captured cannot wait for it; call prepare before the capture",
            ),
            Self::OtherDevice { operand } => s.say(operand).say(" lies on another device than D"),
            Self::Workspace { given, a, b, needed } => {
                let s = detour(s.say("workspace = ").number(given).say(" bytes; this call"), a, "A");
                let both = !matches!(a, Route::Direct) && !matches!(b, Route::Direct);
                detour(if both { s.say(",") } else { s }, b, "B").say(" and takes ").number(needed)
            }
            Self::NotOnStream { operand } => {
                s.say(operand).say(" lies on another device than the stream, or the kernel does; take a stream of the device of both")
            }
            Self::ShorterThanLayout { operand, length, needed } => s
                .say(operand)
                .say(" has ")
                .number(length as u64)
                .say(" elements, and its layout reaches ")
                .number(needed)
                .say("; give it that many at least"),
            Self::WrittenWhileRead { written, read } => s
                .say(written)
                .say(" overlaps ")
                .say(read)
                .say(", which is read while ")
                .say(written)
                .say(" is written; give ")
                .say(written)
                .say(" memory of its own"),
            Self::ElementType { given, wanted } => {
                s.say("a matrix of ").say(given.name()).say(" was given where the kernel takes ").say(wanted.name())
            }
            Self::ElementBytes { given, bytes } => s
                .say("a matrix of ")
                .say(given.name())
                .say(" was given where the kernel takes elements of ")
                .number(bytes as u64)
                .say(if bytes == 1 { " byte" } else { " bytes" }),
            Self::Layouts { a, b, d, exchanged } => s
                .say("the kernel takes A by ")
                .say(a.name())
                .say(" and B by ")
                .say(b.name())
                .say(if exchanged { ", A and B exchanged for a " } else { ", for a " })
                .say(if d.is_row() == exchanged { "column-major D" } else { "row-major D" })
                .say("; these operands lie otherwise"),
            Self::TensorStride { operand, what, value, of, nearest } => s
                .say("the ")
                .say(what)
                .say(" of ")
                .say(operand)
                .say(" = ")
                .number(value)
                .say(" is no multiple of ")
                .number(of)
                .say(if of == 1 { " element" } else { " elements" })
                .say(", which are the 16 bytes of which the copy engine's strides are multiples; the nearest is ")
                .number(nearest),
            Self::StoreCorner { value } => {
                signed(s.say("corner of a store = "), value).say(": the copy engine stores from no corner below 0; the nearest is 0")
            }
            Self::TensorCorner { value, of, nearest } => signed(
                signed(s.say("corner along dimension 0 = "), value)
                    .say(" is no multiple of ")
                    .number(of as u64)
                    .say(" elements, which are the 16 bytes at a multiple of which the copy engine begins a row; the nearest is "),
                nearest,
            ),
            Self::PartlyShared { operand } => s
                .say("D and ")
                .say(operand)
                .say(" share some of their memory but not all of it; pass one matrix, or two that are apart"),
        }
    }
}

/// What becomes of an operand before the kernel; nothing of one that it reads where it lies.
const fn detour(s: Sentence, route: Route, operand: &'static str) -> Sentence {
    match route {
        Route::Direct => s,
        Route::Relaid => s.say(" lays ").say(operand).say(" out again"),
        Route::Transposed => s.say(" transposes ").say(operand),
        Route::Split => s.say(" splits ").say(operand),
    }
}

/// A number below zero has a sign.
const fn signed(s: Sentence, value: i32) -> Sentence {
    if value < 0 { s.say("-") } else { s }.number(value.unsigned_abs() as u64)
}

/// How the sentences about element types begin.
const fn multiplies(a: ElementKind, b: ElementKind, accumulator: ElementKind, c: ElementKind) -> Sentence {
    Sentence::new()
        .say("no kernel multiplies ")
        .say(a.name())
        .say(" by ")
        .say(b.name())
        .say(" accumulating in ")
        .say(accumulator.name())
        .say(" into ")
        .say(c.name())
}
