//! The table of instructions: what `wgmma.mma_async` multiplies, and how PTX names it.
//!
//! A warpgroup, four warps, multiplies 64 x K of A by K x N of B, where a row of K has 32 bytes
//! whatever the type:
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

/// Whether elements of a type are multiplied. Of tf32, the low 13 bits of an f32 are not read.
pub const fn is_input(kind: ElementKind) -> bool {
    matches!(
        kind,
        ElementKind::Tf32
            | ElementKind::F16
            | ElementKind::Bf16
            | ElementKind::I8
            | ElementKind::U8
    ) || kind.is_fp8()
}

/// Whether an operand of a type in shared memory may be MN-major: the instruction has
/// `imm-trans-a`, `imm-trans-b`.
pub const fn reads_along_mn(input: ElementKind) -> bool {
    input.bits() == 16
}

/// Whether products of a type can be added in another.
const fn adds_in(input: ElementKind, accumulator: ElementKind) -> bool {
    match accumulator {
        ElementKind::F32 => is_input(input) && !input.is_integer(),
        ElementKind::F16 => matches!(input, ElementKind::F16) || input.is_fp8(),
        ElementKind::I32 => is_input(input) && input.is_integer(),
        _ => false,
    }
}

/// PTX's name of a type.
const fn ptx(kind: ElementKind) -> &'static str {
    match kind {
        ElementKind::I8 => "s8",
        ElementKind::I32 => "s32",
        other => other.name(),
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
    a: ElementKind,
    b: ElementKind,
    accumulator: ElementKind,
    n: u32,
    a_operand: AOperand,
    along_b: Along,
}

impl Instruction {
    /// The instruction; `None` of types that are not multiplied or added so, of another width, and
    /// of an 8- or 32-bit operand along MN.
    ///
    /// ```
    /// use falchion::{numeric::ElementKind, threadblock::Along, warp::mma_warpgroup::{Instruction, AOperand}};
    /// let (bf16, shared) = (ElementKind::Bf16, AOperand::Shared(Along::K));
    /// let wgmma = Instruction::new((bf16, bf16), ElementKind::F32, 256, shared, Along::Mn).expect("an instruction");
    /// assert_eq!(wgmma.mnemonic(), "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16");
    /// let tf32 = ElementKind::Tf32;
    /// assert_eq!(Instruction::new((tf32, tf32), ElementKind::F32, 256, shared, Along::Mn), None);
    /// ```
    pub const fn new(
        (a, b): (ElementKind, ElementKind),
        accumulator: ElementKind,
        n: u32,
        a_operand: AOperand,
        along_b: Along,
    ) -> Option<Self> {
        let pair = a.is(b) || a.is_integer() && b.is_integer() || a.is_fp8() && b.is_fp8();
        let types = pair && adds_in(a, accumulator) && adds_in(b, accumulator);
        let width = n > 0 && n <= MOST_COLUMNS && n.is_multiple_of(columns_of(a.is_integer(), n));
        let reads_a = reads_along_mn(a) || !matches!(a_operand, AOperand::Shared(Along::Mn));
        let reads_b = reads_along_mn(b) || along_b.is(Along::K);
        if types && width && reads_a && reads_b {
            Some(Self { a, b, accumulator, n, a_operand, along_b })
        } else {
            None
        }
    }

    /// The type of A.
    pub const fn a(&self) -> ElementKind {
        self.a
    }

    /// The type of B.
    pub const fn b(&self) -> ElementKind {
        self.b
    }

    /// What products are added in.
    pub const fn accumulator(&self) -> ElementKind {
        self.accumulator
    }

    /// Columns of B.
    pub const fn n(&self) -> u32 {
        self.n
    }

    /// K, in elements.
    pub const fn k(&self) -> u32 {
        self.a.elements_in(STEP_BYTES)
    }

    /// Registers of a thread that hold accumulators: 64 N / 128 of them, two in a register for f16.
    pub const fn registers(&self) -> u32 {
        ROWS * self.n / THREADS * self.accumulator.bytes_of(1) / 4
    }

    /// PTX's name of the instruction.
    pub fn mnemonic(&self) -> String {
        let (n, k, d, a, b) = (self.n, self.k(), ptx(self.accumulator), ptx(self.a), ptx(self.b));
        format!("wgmma.mma_async.sync.aligned.m{ROWS}n{n}k{k}.{d}.{a}.{b}")
    }

    /// The immediates behind `scale-d`: `imm-scale-a, imm-scale-b`, both 1, for floating-point
    /// types, and `imm-trans-a, imm-trans-b` for 16-bit ones, A's only where it comes from shared
    /// memory.
    pub fn immediates(&self) -> String {
        let mut text = String::new();
        if !self.a.is_integer() {
            text.push_str(", 1, 1");
        }
        if reads_along_mn(self.a) {
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
