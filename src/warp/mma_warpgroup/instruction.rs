//! The table of instructions: what `wgmma.mma_async` multiplies, and how PTX names it.
//!
//! A warpgroup, four warps, multiplies 64 x K of A by K x N of B, where a row of K has 32 bytes whatever the type:
//!
//! | A, B | K | accumulators | N | along MN in shared memory |
//! |---|---|---|---|---|
//! | f16 | 16 | f32, f16 | 8, 16, .. 256 | yes |
//! | bf16 | 16 | f32 | 8, 16, .. 256 | yes |
//! | tf32 | 8 | f32 | 8, 16, .. 256 | no |
//! | e4m3, e5m2, each with each | 32 | f32, f16 | 8, 16, .. 256 | no |
//! | s8, u8, each with each | 32 | s32 | 8, 16, 24, 32, 48, .. 256 | no |
//!
//! A comes from shared memory or from registers, B from shared memory.
//!
//! Source: PTX ISA, "Asynchronous Multiply-and-Accumulate Instruction: wgmma.mma_async".

use crate::words::words;
use crate::{numeric::ElementKind, smem::Along};

/// Bytes of one instruction's row of K, whatever the type.
pub const STEP_BYTES: u32 = 32;

/// Rows of A that one instruction multiplies.
pub const ROWS: u32 = 64;

/// Threads of a warpgroup.
pub const THREADS: u32 = 128;

/// The most columns of an instruction.
pub(crate) const MOST_COLUMNS: u32 = 256;

/// What the columns of an instruction are a multiple of: of integers, beyond 32, of 16.
pub(crate) const fn columns_of(integers: bool, columns: u32) -> u32 {
    if integers && columns > 32 { 16 } else { 8 }
}

words! {
    /// An input type of `wgmma`.
    pub enum WgmmaInput {
        /// IEEE binary16.
        F16 = "f16",
        /// bfloat16.
        Bf16 = "bf16",
        /// The tensor cores' f32 mode; the low 13 bits of an f32 are not read.
        Tf32 = "tf32",
        /// 8 bits: 4 of exponent, 3 of fraction.
        E4m3 = "e4m3",
        /// 8 bits: 5 of exponent, 2 of fraction.
        E5m2 = "e5m2",
        /// Two's complement, 8 bits.
        S8 = "s8",
        /// Unsigned, 8 bits.
        U8 = "u8",
    }
}

impl WgmmaInput {
    /// The input type that elements of a kind are multiplied as; f64, f32 and i32 have none.
    pub const fn of(kind: ElementKind) -> Option<Self> {
        match kind {
            ElementKind::F16 => Some(Self::F16),
            ElementKind::Bf16 => Some(Self::Bf16),
            ElementKind::Tf32 => Some(Self::Tf32),
            ElementKind::E4m3 => Some(Self::E4m3),
            ElementKind::E5m2 => Some(Self::E5m2),
            ElementKind::I8 => Some(Self::S8),
            ElementKind::U8 => Some(Self::U8),
            ElementKind::F64 | ElementKind::F32 | ElementKind::I32 => None,
        }
    }

    /// Width in memory, in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Tf32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::E4m3 | Self::E5m2 | Self::S8 | Self::U8 => 1,
        }
    }

    /// K of one instruction, in elements.
    pub const fn k(self) -> u32 {
        STEP_BYTES / self.bytes()
    }

    /// What products are added in unless the user says otherwise.
    pub const fn accumulator(self) -> WgmmaAccumulator {
        if self.is_integer() { WgmmaAccumulator::S32 } else { WgmmaAccumulator::F32 }
    }

    /// Whether products can be added in a type.
    pub const fn adds_in(self, accumulator: WgmmaAccumulator) -> bool {
        match accumulator {
            WgmmaAccumulator::F32 => !self.is_integer(),
            WgmmaAccumulator::F16 => matches!(self, Self::F16 | Self::E4m3 | Self::E5m2),
            WgmmaAccumulator::S32 => self.is_integer(),
        }
    }

    /// Whether an operand in shared memory may be MN-major: the instruction has `imm-trans-a`, `imm-trans-b`.
    pub const fn reads_along_mn(self) -> bool {
        self.bytes() == 2
    }

    const fn is_integer(self) -> bool {
        matches!(self, Self::S8 | Self::U8)
    }

    const fn is_float8(self) -> bool {
        matches!(self, Self::E4m3 | Self::E5m2)
    }

    const fn multiplies(self, other: Self) -> bool {
        self as u8 == other as u8 || self.is_integer() && other.is_integer() || self.is_float8() && other.is_float8()
    }
}

words! {
    /// What `wgmma` adds in.
    pub enum WgmmaAccumulator {
        /// IEEE binary32.
        F32 = "f32",
        /// IEEE binary16, two in a register.
        F16 = "f16",
        /// Two's complement, 32 bits.
        S32 = "s32",
    }
}

impl WgmmaAccumulator {
    /// Width in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::F16 => 2,
            Self::F32 | Self::S32 => 4,
        }
    }

    /// The C++ type of a register that holds it.
    pub const fn register(self) -> &'static str {
        match self {
            Self::F32 => "float",
            Self::F16 => "unsigned",
            Self::S32 => "int",
        }
    }
}

/// Where A comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AOperand {
    /// Shared memory, K-major or M-major.
    Shared(Along),
    /// Registers, four of each thread, in the order of [`FragmentMap`](super::FragmentMap).
    Registers,
}

/// One `wgmma.mma_async`, as a value: a row of the table above.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    a: WgmmaInput,
    b: WgmmaInput,
    accumulator: WgmmaAccumulator,
    n: u32,
    a_operand: AOperand,
    along_b: Along,
}

impl Instruction {
    /// The instruction; `None` of types that are not multiplied or added so, of another width, and of an 8- or 32-bit operand along MN.
    ///
    /// ```
    /// use falchion::{threadblock::Along, warp::mma_warpgroup::{Instruction, AOperand, WgmmaAccumulator, WgmmaInput}};
    /// let (bf16, shared) = (WgmmaInput::Bf16, AOperand::Shared(Along::K));
    /// let wgmma = Instruction::new((bf16, bf16), WgmmaAccumulator::F32, 256, shared, Along::Mn).expect("an instruction");
    /// assert_eq!(wgmma.mnemonic(), "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16");
    /// let tf32 = WgmmaInput::Tf32;
    /// assert_eq!(Instruction::new((tf32, tf32), WgmmaAccumulator::F32, 256, shared, Along::Mn), None);
    /// ```
    pub const fn new(
        (a, b): (WgmmaInput, WgmmaInput),
        accumulator: WgmmaAccumulator,
        n: u32,
        a_operand: AOperand,
        along_b: Along,
    ) -> Option<Self> {
        let types = a.multiplies(b) && a.adds_in(accumulator);
        let width = n > 0 && n <= MOST_COLUMNS && n.is_multiple_of(columns_of(a.is_integer(), n));
        let reads_a = a.reads_along_mn() || !matches!(a_operand, AOperand::Shared(Along::Mn));
        let reads_b = b.reads_along_mn() || along_b.is(Along::K);
        if types && width && reads_a && reads_b { Some(Self { a, b, accumulator, n, a_operand, along_b }) } else { None }
    }

    /// The type of A.
    pub const fn a(&self) -> WgmmaInput {
        self.a
    }

    /// The type of B.
    pub const fn b(&self) -> WgmmaInput {
        self.b
    }

    /// What products are added in.
    pub const fn accumulator(&self) -> WgmmaAccumulator {
        self.accumulator
    }

    /// Columns of B.
    pub const fn n(&self) -> u32 {
        self.n
    }

    /// K, in elements.
    pub const fn k(&self) -> u32 {
        self.a.k()
    }

    /// Where A comes from.
    pub const fn a_operand(&self) -> AOperand {
        self.a_operand
    }

    /// Which index of B is contiguous in shared memory.
    pub const fn along_b(&self) -> Along {
        self.along_b
    }

    /// Registers of a thread that hold accumulators: 64 N / 128 of them, two in a register for f16.
    pub const fn registers(&self) -> u32 {
        ROWS * self.n / THREADS * self.accumulator.bytes() / 4
    }

    /// PTX's name of the instruction.
    pub fn mnemonic(&self) -> String {
        let (n, k, d, a, b) = (self.n, self.k(), self.accumulator.name(), self.a.name(), self.b.name());
        format!("wgmma.mma_async.sync.aligned.m{ROWS}n{n}k{k}.{d}.{a}.{b}")
    }

    /// The immediates behind `scale-d`: `imm-scale-a, imm-scale-b`, both 1, for floating-point types, and `imm-trans-a,
    /// imm-trans-b` for 16-bit ones, A's only where it comes from shared memory.
    pub fn immediates(&self) -> String {
        let mut text = String::new();
        if !self.a.is_integer() {
            text.push_str(", 1, 1");
        }
        if self.a.reads_along_mn() {
            if let AOperand::Shared(along) = self.a_operand {
                text.push_str(transposed(along));
            }
            text.push_str(transposed(self.along_b));
        }
        text
    }
}

const fn transposed(along: Along) -> &'static str {
    match along {
        Along::K => ", 0",
        Along::Mn => ", 1",
    }
}
