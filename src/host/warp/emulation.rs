//! Decomposed `f32` operands: each row holds its 16-bit terms, as the GPU passes store them in the
//! workspace.

use crate::{
    Error,
    host::parallel::{parallel_map, parallel_pieces},
    layout::Order,
    nest::GemmDesc,
    numeric::{
        Bf16, ElementKind, EmulationKind, F16,
        emulation::{EmulationBlocks, LineFacts, shift_of, unscaled},
    },
    operand::{DecomposedLayout, HostCall, HostSlice, View},
    refusal::{OperandLine, Refusal},
    shape::OperandKind,
};

/// The functions that decompose operands and combine the products of their terms. Tests change one
/// field and observe the effect.
#[derive(Clone, Copy)]
pub struct EmulationProgram {
    /// Returns the bits of the terms of a number whose row has the given shift.
    pub terms: fn(EmulationKind, f32, i32) -> [u16; 3],
    /// Bits of the padding after the end of K in each term.
    pub padding: u16,
    /// Returns the exponent `s` of a row's scale 2^-s, from the bits of its largest magnitude.
    pub shift: fn(u32) -> i32,
    /// Whether the executor refuses rows whose exponent range is too wide for scaling.
    pub windowed: bool,
    /// Returns the block of an operand that a k-tile reads.
    pub block: fn(&EmulationBlocks, OperandKind, u32) -> u32,
    /// Scales a sum back. The second argument is the sum of the shifts of its row and column.
    pub unscaled: fn(f32, i32) -> f32,
}

impl EmulationProgram {
    /// The functions of [`numeric::emulation`](crate::numeric::emulation).
    pub const RIGHT: Self = Self {
        terms: EmulationKind::decompose,
        padding: 0,
        shift: shift_of,
        windowed: true,
        block: EmulationBlocks::block,
        unscaled,
    };
}

/// The scales that are undone in the accumulators.
#[derive(Clone, Copy)]
pub struct Scales<'a> {
    /// Shifts of the rows of A and of the columns of B, for each GEMM of the batch. Empty without
    /// scaling.
    pub shifts: &'a [Vec<i32>; 2],
    /// For A and B: the number of rows or columns, and the distance from one GEMM's shifts to the
    /// next.
    pub lines: [[usize; 2]; 2],
    /// The function that undoes a shift.
    pub unscaled: fn(f32, i32) -> f32,
}

impl Scales<'_> {
    /// Returns the shift of an element of D, which is 0 outside of D. `None` without scaling.
    pub fn shift(&self, product: usize, row: usize, column: usize) -> Option<i32> {
        let of = |side: usize, line: usize| {
            let [lines, next] = self.lines[side];
            let shift = (line < lines).then(|| self.shifts[side].get(product * next + line));
            shift.flatten().copied().unwrap_or(0)
        };
        (!self.shifts[0].is_empty()).then(|| of(0, row) + of(1, column))
    }
}

/// The decomposed operands of a call.
pub struct DecomposedOperands {
    emulation: EmulationKind,
    terms: [Vec<u16>; 2],
    /// Shifts of the rows of A and of the columns of B, for each GEMM of the batch. Empty without
    /// scaling.
    pub shifts: [Vec<i32>; 2],
    /// For A and B: the number of rows or columns, and the distance from one GEMM's shifts to the
    /// next.
    pub lines: [[usize; 2]; 2],
    /// Elements per decomposed row.
    length: usize,
}

impl DecomposedOperands {
    /// Decomposes the operands of a call in the kernel's frame. If M, N, or K is 0, the result is
    /// empty.
    ///
    /// # Errors
    /// [`Refusal`] if a row or column cannot be scaled, or if an operand is not of type `f32`.
    pub fn new(
        program: &EmulationProgram,
        desc: &GemmDesc,
        call: &HostCall<'_>,
    ) -> Result<Self, Error> {
        let (emulation, lines) = (desc.emulation(), [[0; 2]; 2]);
        let mut this = Self {
            emulation,
            terms: Default::default(),
            shifts: Default::default(),
            lines,
            length: 0,
        };
        if call.m == 0 || call.n == 0 || call.k == 0 {
            return Ok(this);
        }
        let problem = call.problem();
        let each = OperandKind::BOTH.map(|operand| problem.matrices(problem.operand(operand)));
        for operand in OperandKind::BOTH {
            let (View { memory, strides, batch_stride, .. }, (k, mn)) =
                (*call.operand(operand), (call.k, call.mn(operand)));
            let (matrix, side) = (memory.elements::<f32>()?, operand.index());
            let (of_mn, of_k) = (strides[side], strides[1 - side]);
            let (layout, count) = (DecomposedLayout { emulation, mn, k }, each[side].0 as usize);
            let (padded, length) = (layout.padded() as usize, layout.leading() as usize);
            this.terms[side] = vec![program.padding; count * mn * length];
            for (number, terms) in this.terms[side].chunks_exact_mut(mn * length).enumerate() {
                let first = number * batch_stride;
                let element = |mn: usize, k: usize| {
                    matrix.get(first + mn * of_mn + k * of_k).copied().unwrap_or_default()
                };
                let product = (count > 1).then_some(number as u32);
                let shifts = if emulation.scales() {
                    shifts(program, (operand, product), (mn, k), &element)?
                } else {
                    Vec::new()
                };
                parallel_pieces(terms, length, |mn, row| {
                    let shift = shifts.get(mn).copied().unwrap_or(0);
                    for k in 0..k {
                        let each = (program.terms)(emulation, element(mn, k), shift);
                        row.iter_mut()
                            .skip(k)
                            .step_by(padded)
                            .zip(each)
                            .for_each(|(to, bits)| *to = bits);
                    }
                });
                this.shifts[side].extend(shifts);
            }
            this.lines[side] = [mn, if count > 1 { mn } else { 0 }];
            this.length = length;
        }
        Ok(this)
    }

    /// Returns the call with the decomposed operands, which are K-major.
    pub fn call<'a>(&'a self, call: HostCall<'a>) -> HostCall<'a> {
        let slice = |terms: &'a [u16]| match self.emulation.term_type() {
            Some(ElementKind::F16) => HostSlice::new::<F16>(bytemuck::cast_slice(terms)),
            _ => HostSlice::new::<Bf16>(bytemuck::cast_slice(terms)),
        };
        let [a, b] = self.terms.each_ref().map(|terms| slice(terms));
        let [rows, columns] = self.lines.map(|[_, next]| next * self.length);
        let (a, b) = (
            View::new(a, Order::Row, self.length).batched(rows),
            View::new(b, Order::Col, self.length).batched(columns),
        );
        HostCall { k: self.length, a, b, ..call }
    }
}

/// Returns the shift of each row or column of an operand.
fn shifts(
    program: &EmulationProgram,
    (operand, product): (OperandKind, Option<u32>),
    (mn, k): (usize, usize),
    element: &(impl Fn(usize, usize) -> f32 + Sync),
) -> Result<Vec<i32>, Refusal> {
    let facts = |mn: usize| LineFacts::new((0..k).map(move |k| element(mn, k)));
    let facts: Vec<LineFacts> = parallel_map(mn, facts);
    if let Some(refused) = facts.iter().position(LineFacts::is_refused).filter(|_| program.windowed)
    {
        let line = OperandLine { operand, product, number: refused as u32 };
        return Err(Refusal::line(line, &facts[refused]));
    }
    Ok(facts.iter().map(|facts| (program.shift)(facts.largest)).collect())
}
