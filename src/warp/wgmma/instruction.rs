//! Table of the `wgmma.mma_async` instructions, and their PTX names.
//!
//! A warpgroup (four warps) multiplies 64 x K of A by K x N of B. K spans 32 bytes for every type:
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

use crate::{
    numeric::ElementKind,
    threadblock::smem::Along,
    warp::warpgroup::{ROWS, THREADS},
};

/// K extent of one instruction in bytes, for every type.
pub const STEP_BYTES: u32 = 32;

/// Maximum number of columns per instruction.
pub(crate) const MOST_COLUMNS: u32 = 256;

/// Returns the granularity of an instruction's columns: 16 for integers beyond 32 columns,
/// otherwise 8.
pub(crate) const fn columns_of(integers: bool, columns: u32) -> u32 {
    if integers && columns > 32 { 16 } else { 8 }
}

/// Returns whether the instructions multiply elements of a type. For tf32, they ignore the low 13
/// bits of an f32.
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

/// Returns whether an operand in shared memory may be MN-major: the instruction has `imm-trans-a`
/// and `imm-trans-b`.
pub const fn reads_along_mn(input: ElementKind) -> bool {
    input.bits() == 16
}

/// Returns whether products of a type can be accumulated in another.
const fn adds_in(input: ElementKind, accumulator: ElementKind) -> bool {
    match accumulator {
        ElementKind::F32 => is_input(input) && !input.is_integer(),
        ElementKind::F16 => matches!(input, ElementKind::F16) || input.is_fp8(),
        ElementKind::I32 => is_input(input) && input.is_integer(),
        _ => false,
    }
}

/// Returns PTX's name of a type.
const fn ptx(kind: ElementKind) -> &'static str {
    match kind {
        ElementKind::I8 => "s8",
        ElementKind::I32 => "s32",
        other => other.name(),
    }
}

/// Source of A.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AOperand {
    /// Shared memory, K-major or M-major.
    Shared(Along),
    /// Registers, four per thread, in the order of
    /// [`FragmentMap`](crate::warp::wgmma::FragmentMap).
    Registers,
}

/// One `wgmma.mma_async` instruction: a row of the table above.
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
    /// Returns the instruction. `None` for unsupported types or an unsupported N, and for an
    /// MN-major operand of 8 or 32 bits in shared memory.
    ///
    /// ```
    /// use falchion::{numeric::ElementKind, threadblock::Along, warp::wgmma::{Instruction, AOperand}};
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

    /// Returns the element type of A.
    pub const fn a(&self) -> ElementKind {
        self.a
    }

    /// Returns the element type of B.
    pub const fn b(&self) -> ElementKind {
        self.b
    }

    /// Returns the accumulator type.
    pub const fn accumulator(&self) -> ElementKind {
        self.accumulator
    }

    /// Returns the number of columns of B.
    pub const fn n(&self) -> u32 {
        self.n
    }

    /// Returns K in elements.
    pub const fn k(&self) -> u32 {
        self.a.elements_in(STEP_BYTES)
    }

    /// Returns the accumulator registers per thread: N / 2, or N / 4 for f16, which has two per
    /// register.
    pub const fn registers(&self) -> u32 {
        ROWS * self.n / THREADS * self.accumulator.bytes_of(1) / 4
    }

    /// Returns the PTX mnemonic.
    pub fn mnemonic(&self) -> String {
        let (n, k, d, a, b) = (self.n, self.k(), ptx(self.accumulator), ptx(self.a), ptx(self.b));
        format!("wgmma.mma_async.sync.aligned.m{ROWS}n{n}k{k}.{d}.{a}.{b}")
    }

    /// Returns the immediates behind `scale-d`. Floating-point types have `imm-scale-a,
    /// imm-scale-b`, both 1. 16-bit types have `imm-trans-b`, and `imm-trans-a` if A comes from
    /// shared memory.
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
