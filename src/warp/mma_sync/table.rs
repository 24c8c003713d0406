//! Table of the supported instructions, and its look-up.

use crate::{
    numeric::{
        ElementKind::{self, Bf16, E4m3, E5m2, F16, F32, F64, I8, I32, Tf32, U8},
        EmulationKind, Multiplied,
    },
    refusal::{Field, Legal, Refusal},
    shape::{Axis, Frame, Mnk},
    warp::mma_sync::{EIGHT, MathOperator, WarpInstruction},
};

const fn not_one_of(axis: Axis, value: u32, legal: &'static [u32], nearest: u32) -> Refusal {
    Refusal::not_one_of(Field::Instruction(axis), value as u64, Legal::OneOf(legal), nearest as u64)
}

/// Instructions with the same M: input types, accumulator types, M, K extents, and the minimum
/// compute capability. N is always 8.
struct InstructionRow {
    inputs: &'static [ElementKind],
    accumulators: &'static [ElementKind],
    /// The sets of `inputs` and of `accumulators`.
    sets: [u32; 2],
    m: u32,
    depths: &'static [u32],
    sm: u32,
}

const fn row(
    inputs: &'static [ElementKind],
    accumulators: &'static [ElementKind],
    m: u32,
    depths: &'static [u32],
    sm: u32,
) -> InstructionRow {
    let sets = [set(inputs), set(accumulators)];
    InstructionRow { inputs, accumulators, sets, m, depths, sm }
}

/// Instruction table. For each type, newer architectures and larger K come first.
static TABLE: [InstructionRow; 9] = [
    row(&[F64], &[F64], 16, &[16, 8, 4], 90),
    row(&[F64], &[F64], 8, &[4], 80),
    row(&[F16], &[F32, F16], 16, &[16, 8], 80),
    row(&[F16], &[F32, F16], 16, &[8], 75),
    row(&[Bf16], &[F32], 16, &[16, 8], 80),
    row(&[Tf32], &[F32], 16, &[8, 4], 80),
    row(&[I8, U8], &[I32], 16, &[32, 16], 80),
    row(&[I8, U8], &[I32], 8, &[16], 75),
    row(&[E4m3, E5m2], &[F32], 16, &[32], 89),
];

/// Stored types and multiplied types of transforms.
const TRANSFORMS: [u32; 2] = [set(&[F32, Tf32, F16, Bf16]), set(&[Tf32, F16, Bf16])];

/// Returns a set of element types, one bit each. The compiler tests a set without a loop.
const fn set(kinds: &[ElementKind]) -> u32 {
    let (mut i, mut set) = (0, 0);
    while i < kinds.len() {
        set |= 1 << kinds[i] as u32;
        i += 1;
    }
    set
}

/// Returns whether a set has an element type.
const fn has(set: u32, kind: ElementKind) -> bool {
    set >> kind as u32 & 1 == 1
}

const fn has_depth(depths: &[u32], depth: u32) -> bool {
    let mut i = 0;
    while i < depths.len() && depths[i] != depth {
        i += 1;
    }
    i < depths.len()
}

/// Returns whether a warp can compute what is multiplied from fragments of type `stored`. The
/// result is not wider than the stored element.
pub(super) const fn supported(multiplied: Multiplied, stored: ElementKind) -> bool {
    match multiplied {
        Multiplied::Stored => true,
        Multiplied::Terms(emulation) => emulation.in_registers() && stored.is(F32),
        Multiplied::Transformed(id) => {
            let factor = id.multiplied;
            id.stored.is(stored)
                && has(TRANSFORMS[0], stored)
                && has(TRANSFORMS[1], factor)
                && factor.bits() <= stored.bits()
        }
    }
}

impl InstructionRow {
    /// Returns whether an instruction of the row multiplies what `math` makes of elements of types
    /// `inputs`.
    const fn adds(
        &self,
        math: MathOperator,
        inputs: [ElementKind; 2],
        accumulator: ElementKind,
    ) -> bool {
        let [inputs_of, accumulators] = self.sets;
        if !has(accumulators, accumulator) {
            return false;
        }
        let ([a, b], [of_a, of_b]) = (inputs, math.multiplied());
        let [x, y] = [of_a.element(a), of_b.element(b)];
        has(inputs_of, x)
            && has(inputs_of, y)
            && (x.is(y) || x.is_fp8())
            && supported(of_a, a)
            && supported(of_b, b)
            && of_a.terms() == of_b.terms()
    }
}

impl WarpInstruction {
    /// Returns the instruction with this operation, these types, and this shape. `None` if no
    /// architecture supports it.
    ///
    /// ```
    /// use falchion::{numeric::ElementKind::{F32, F64}, shape::Mnk, warp::mma_sync::{MathOperator::MultiplyAdd, WarpInstruction}};
    /// let dmma = WarpInstruction::new(MultiplyAdd, [F64, F64], F64, Mnk::new(16, 8, 8)).expect("Hopper has it");
    /// assert_eq!(dmma.sm(), 90);
    /// assert!(WarpInstruction::new(MultiplyAdd, [F32, F32], F32, Mnk::new(16, 8, 8)).is_none());
    /// ```
    pub const fn new(
        math: MathOperator,
        inputs: [ElementKind; 2],
        accumulator: ElementKind,
        shape: Mnk,
    ) -> Option<Self> {
        let (mut found, mut i) = (None, 0);
        while i < TABLE.len() {
            let &InstructionRow { m, depths, sm, .. } = &TABLE[i];
            // Entries of older architectures come later and override newer ones.
            if m == shape.m
                && shape.n == EIGHT
                && TABLE[i].adds(math, inputs, accumulator)
                && has_depth(depths, shape.k)
            {
                found = Some(Self { inputs, accumulator, shape, sm, math });
            }
            i += 1;
        }
        found
    }

    /// Returns the instruction if machines of compute capability `sm` support it, or `None` if they
    /// support no instruction with these types.
    ///
    /// # Errors
    /// [`Refusal`] if the machine supports the types but not this M, N, or K.
    pub const fn for_machine(
        math: MathOperator,
        inputs: [ElementKind; 2],
        accumulator: ElementKind,
        shape: Mnk,
        sm: u32,
    ) -> Result<Option<Self>, Refusal> {
        let (mut first, mut of_m, mut ms, mut i): (
            Option<u32>,
            Option<&'static [u32]>,
            &'static [u32],
            _,
        ) = (None, None, &[], 0);
        while i < TABLE.len() {
            let &InstructionRow { m, depths, sm: least, .. } = &TABLE[i];
            if least <= sm && TABLE[i].adds(math, inputs, accumulator) {
                ms = match first {
                    None if m == 8 => &[8],
                    None => &[16],
                    Some(other) if other != m => &[8, 16],
                    Some(_) => ms,
                };
                if first.is_none() {
                    first = Some(m);
                }
                if m == shape.m && of_m.is_none() {
                    of_m = Some(depths);
                }
            }
            i += 1;
        }
        let Some(m) = first else { return Ok(None) };
        let Some(depths) = of_m else {
            return Err(not_one_of(Axis::M, shape.m, ms, m));
        };
        if shape.n != EIGHT {
            return Err(not_one_of(Axis::N, shape.n, &[EIGHT], EIGHT));
        }
        if !has_depth(depths, shape.k) {
            return Err(not_one_of(Axis::K, shape.k, depths, depths[0]));
        }
        Ok(Self::new(math, inputs, accumulator, shape))
    }

    /// Returns all instructions, and those with a built-in transform.
    pub fn all() -> impl Iterator<Item = Self> {
        let typed = |row: &'static InstructionRow| {
            let pairs = row.inputs.iter().flat_map(|&a| row.inputs.iter().map(move |&b| [a, b]));
            pairs.map(move |inputs| (row, MathOperator::MultiplyAdd, inputs))
        };
        let emulated = [EmulationKind::Tf32x3, EmulationKind::Bf16x1].into_iter().flat_map(|of| {
            let math = MathOperator::for_emulation(of, Frame::USER);
            let rows = TABLE.iter().filter(move |row| row.adds(math, [F32; 2], F32));
            rows.map(move |row| (row, math, [F32; 2]))
        });
        let shapes = |row: &'static InstructionRow| {
            let shape = |&k| Mnk::new(row.m, EIGHT, k);
            let sums = row.accumulators.iter();
            sums.flat_map(move |&sum| row.depths.iter().map(move |k| (sum, shape(k))))
        };
        TABLE.iter().flat_map(typed).chain(emulated).flat_map(move |(row, math, inputs)| {
            shapes(row).filter_map(move |(sum, shape)| {
                Self::new(math, inputs, sum, shape).filter(|one| one.sm == row.sm)
            })
        })
    }
}
