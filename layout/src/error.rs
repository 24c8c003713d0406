//! Errors of the layout algebra.

/// Error of the layout algebra, printed as a sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant's sentence says what its fields are")]
pub enum LayoutError {
    #[error("an extent is 0, and the least is 1")]
    ZeroExtent,
    #[error("a tuple is empty, and a layout has at least one mode")]
    EmptyTuple,
    #[error("{what} does not fit in 64 bits: the most is {}", u64::MAX)]
    Overflow { what: &'static str },
    #[error(
        "the shape {shape} and the stride {stride} do not nest alike: each extent has one stride"
    )]
    NotCongruent { shape: String, stride: String },
    #[error(
        "the composition is no layout: the stride {stride} of {mode} neither divides nor is a multiple of the extent {extent} of the \
         left layout's coalesced mode {at}; try stride {nearest}"
    )]
    StrideDivisibility { mode: String, stride: u64, extent: u64, at: usize, nearest: u64 },
    #[error(
        "the composition is no layout: the extent {extent} of {mode} is not a multiple of {run}, after which it leaves the left \
         layout's coalesced mode {at}; try extent {nearest}"
    )]
    ShapeDivisibility { mode: String, extent: u64, run: u64, at: usize, nearest: u64 },
    #[error(
        "the composition is no layout: {mode} and the right layout's modes before it together step across the extent {extent} of \
         the left layout's coalesced mode {at}, to {reached}, and the most is {}", extent - 1
    )]
    ModesCarry { mode: String, extent: u64, at: usize, reached: u64 },
    #[error(
        "the layout has no complement: its stride {stride} is not a multiple of {filled}, where the modes of smaller stride end; \
         try stride {nearest}"
    )]
    ComplementDivisibility { stride: u64, filled: u64, nearest: u64 },
    #[error("the layout has no left inverse: it sends both {first} and {second} to {offset}")]
    NotInjective { first: u64, second: u64, offset: u64 },
    #[error(
        "the {what} has rank {given}, and the layout {layout} has rank {most}, which is the most"
    )]
    RankTooHigh { what: &'static str, given: usize, layout: String, most: usize },
    #[error("the layout {layout} has rank {rank}, and {what} takes rank {wanted}")]
    Rank { what: &'static str, layout: String, rank: usize, wanted: usize },
    #[error("{index} is outside of the shape {shape}: the most is {most}")]
    OutsideShape { index: u64, shape: String, most: u64 },
    #[error(
        "the coordinate {coordinate} does not fit the shape {shape}: it is an integer, or as many members as the shape has"
    )]
    NotCompatible { coordinate: String, shape: String },
    #[error("{what} is {value}, and {because}")]
    Swizzle { what: &'static str, value: u64, because: &'static str },
    #[error("the tensor has {length} elements, and its layout reaches {cosize}")]
    TensorTooShort { length: u64, cosize: u64 },
    #[error("{what}: {left} and {right} are not equal")]
    SizesDiffer { what: &'static str, left: u64, right: u64 },
    #[error("the threads {threads} have no thread {thread}")]
    NoSuchThread { thread: u64, threads: String },
    #[error("{what} is {value}, and {by} does not divide it; try {nearest}")]
    DoesNotDivide { what: &'static str, value: u32, by: u32, nearest: u32 },
    #[error("a map counts in 32 bits, and {value} does not fit: the most is {}", u32::MAX)]
    MapTooLarge { value: u64 },
    #[error(
        "the layouts have {given} dynamic integers, and a launch gives {most} at most; the others are to be static"
    )]
    TooManyDynamic { given: usize, most: usize },
    #[error("at character {}: {because}", at + 1)]
    Syntax { at: usize, because: String },
}
