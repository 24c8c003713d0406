//! Operands of `f32` as rows of their parts, as the device's passes leave them in the workspace.

use crate::{
    call::{HostMatrices, HostSlice, MatrixShape, Shapes, SplitLayout},
    desc::WarpSpecializedDesc,
    error::Error,
    host::parallel::{parallel_map, parallel_pieces},
    numeric::{Bf16, ElementKind, F16, SplitKind, split::LineFacts},
    operand::OperandKind,
    plan::SplitProgram,
    refusal::{Refusal, SplitRefusal},
};

/// What sums are scaled back by.
#[derive(Clone, Copy)]
pub(super) struct Scales<'a> {
    /// Of rows of A and of columns of B; none where nothing is scaled.
    pub shifts: &'a [Vec<i32>; 2],
    /// How.
    pub unscaled: fn(f32, i32) -> f32,
}

impl Scales<'_> {
    /// The shift of an element of D; 0 outside of it, and `None` where nothing is scaled.
    pub fn shift(&self, row: usize, column: usize) -> Option<i32> {
        let [rows, columns] = self.shifts;
        let of = |shifts: &[i32], at: usize| shifts.get(at).copied().unwrap_or(0);
        (!rows.is_empty()).then(|| of(rows, row) + of(columns, column))
    }
}

/// Operands of parts.
pub(super) struct SplitOperands {
    split: SplitKind,
    parts: [Vec<u16>; 2],
    /// Of rows of A and of columns of B; none where nothing is scaled.
    pub shifts: [Vec<i32>; 2],
    /// Elements of a row.
    length: usize,
}

impl SplitOperands {
    /// Those of a row-major problem. Where nothing is read, there are none.
    ///
    /// # Errors
    ///
    /// [`SplitRefusal`] where a row or column cannot be scaled, with the names that the user has for it; [`Refusal::ElementType`] of
    /// operands that are not of `f32`.
    pub fn of(
        program: &SplitProgram,
        desc: &WarpSpecializedDesc,
        problem: &Shapes,
        inputs: &HostMatrices<'_>,
    ) -> Result<Self, Error> {
        let mut this = Self { split: desc.knobs.emulation, parts: Default::default(), shifts: Default::default(), length: 0 };
        let nothing = problem.m == 0 || problem.n == 0 || problem.k == 0;
        if nothing || !desc.class.output.epilogue.reads(&problem.scalars).accumulator {
            return Ok(this);
        }
        for operand in OperandKind::BOTH {
            let (matrix, mn, leading) = match operand {
                OperandKind::A => (inputs.a.of::<f32>()?, problem.m, problem.a.leading),
                OperandKind::B => (inputs.b.of::<f32>()?, problem.n, problem.b.leading),
            };
            let strides = if desc.class.k_contiguous(operand) { (leading, 1) } else { (1, leading) };
            let element = |mn: usize, k: usize| matrix.get(mn * strides.0 + k * strides.1).copied().unwrap_or_default();
            let layout = SplitLayout { split: desc.knobs.emulation, mn, k: problem.k };
            let shifts = if desc.knobs.emulation.scales() {
                shifts(program, desc, (operand, mn, problem.k), &element)?
            } else {
                Vec::new()
            };
            let (padded, length) = (layout.padded() as usize, layout.leading() as usize);
            let mut parts = vec![program.padding; mn * length];
            parallel_pieces(&mut parts, length, |mn, row| {
                let shift = shifts.get(mn).copied().unwrap_or(0);
                for k in 0..problem.k {
                    let each = (program.parts)(desc.knobs.emulation, element(mn, k), shift);
                    row.iter_mut().skip(k).step_by(padded).zip(each).for_each(|(to, bits)| *to = bits);
                }
            });
            this.parts[operand.index()] = parts;
            this.shifts[operand.index()] = shifts;
            this.length = length;
        }
        Ok(this)
    }

    /// The problem of the parts.
    pub fn problem(&self, problem: Shapes) -> Shapes {
        let part = |matrix: MatrixShape| MatrixShape { leading: self.length, ..matrix };
        Shapes { k: self.length, a: part(problem.a), b: part(problem.b), ..problem }
    }

    /// The operands, and C and D as they were.
    pub fn inputs<'a>(&'a self, inputs: HostMatrices<'a>) -> HostMatrices<'a> {
        let slice = |parts: &'a [u16]| match self.split.part() {
            Some(ElementKind::F16) => HostSlice::new::<F16>(bytemuck::cast_slice(parts)),
            _ => HostSlice::new::<Bf16>(bytemuck::cast_slice(parts)),
        };
        let [a, b] = &self.parts;
        HostMatrices { a: slice(a), b: slice(b), ..inputs }
    }
}

/// What each row or column is scaled by.
fn shifts(
    program: &SplitProgram,
    desc: &WarpSpecializedDesc,
    (operand, mn, k): (OperandKind, usize, usize),
    element: &(impl Fn(usize, usize) -> f32 + Sync),
) -> Result<Vec<i32>, Refusal> {
    let facts = |mn: usize| LineFacts::of((0..k).map(move |k| element(mn, k)));
    let facts: Vec<LineFacts> = parallel_map(mn, facts);
    if let Some(line) = facts.iter().position(LineFacts::is_refused).filter(|_| program.windowed) {
        let refused = SplitRefusal::of(operand, line as u32, &facts[line]);
        return Err(Refusal::Split(if desc.frame.is_exchanged() { refused.exchanged() } else { refused }));
    }
    Ok(facts.iter().map(|facts| (program.shift)(facts.largest)).collect())
}
