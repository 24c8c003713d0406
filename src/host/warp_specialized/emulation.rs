//! Operands of `f32` as rows of their parts, as the device's passes leave them in the workspace.

use crate::{
    call::{DecomposedLayout, HostCall, HostSlice, View},
    desc::WarpSpecializedDesc,
    error::Error,
    host::parallel::{parallel_map, parallel_pieces},
    layout::Order,
    numeric::{Bf16, ElementKind, EmulationKind, F16, emulation::LineFacts},
    operand::OperandKind,
    plan::EmulationProgram,
    refusal::{EmulationRefusal, Refusal},
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
pub(super) struct DecomposedOperands {
    emulation: EmulationKind,
    parts: [Vec<u16>; 2],
    /// Of rows of A and of columns of B; none where nothing is scaled.
    pub shifts: [Vec<i32>; 2],
    /// Elements of a row.
    length: usize,
}

impl DecomposedOperands {
    /// Those of a call, which is in the kernel's frame. Where nothing is read, there are none.
    ///
    /// # Errors
    ///
    /// [`EmulationRefusal`] where a row or column cannot be scaled; [`Refusal::ElementType`] of operands that are not of `f32`.
    pub fn of(program: &EmulationProgram, desc: &WarpSpecializedDesc, call: &HostCall<'_>) -> Result<Self, Error> {
        let mut this = Self { emulation: desc.knobs.emulation, parts: Default::default(), shifts: Default::default(), length: 0 };
        let nothing = call.m == 0 || call.n == 0 || call.k == 0;
        if nothing || !desc.class.output.epilogue.reads(&call.scalars).accumulator {
            return Ok(this);
        }
        for operand in OperandKind::BOTH {
            let (View { memory, strides: [rows, columns], .. }, k) = (*call.operand(operand), call.k);
            let (matrix, (mn, strides)) = match operand {
                OperandKind::A => (memory.of::<f32>()?, (call.m, (rows, columns))),
                OperandKind::B => (memory.of::<f32>()?, (call.n, (columns, rows))),
            };
            let element = |mn: usize, k: usize| matrix.get(mn * strides.0 + k * strides.1).copied().unwrap_or_default();
            let layout = DecomposedLayout { emulation: desc.knobs.emulation, mn, k };
            let shifts = if desc.knobs.emulation.scales() { shifts(program, (operand, mn, k), &element)? } else { Vec::new() };
            let (padded, length) = (layout.padded() as usize, layout.leading() as usize);
            let mut parts = vec![program.padding; mn * length];
            parallel_pieces(&mut parts, length, |mn, row| {
                let shift = shifts.get(mn).copied().unwrap_or(0);
                for k in 0..k {
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

    /// The call on the parts, rows of which are K-major.
    pub fn call<'a>(&'a self, call: HostCall<'a>) -> HostCall<'a> {
        let slice = |parts: &'a [u16]| match self.emulation.part() {
            Some(ElementKind::F16) => HostSlice::new::<F16>(bytemuck::cast_slice(parts)),
            _ => HostSlice::new::<Bf16>(bytemuck::cast_slice(parts)),
        };
        let [a, b] = self.parts.each_ref().map(|parts| slice(parts));
        let (a, b) = (View::new(a, Order::Row, self.length), View::new(b, Order::Col, self.length));
        HostCall { k: self.length, a, b, ..call }
    }
}

/// What each row or column is scaled by.
fn shifts(
    program: &EmulationProgram,
    (operand, mn, k): (OperandKind, usize, usize),
    element: &(impl Fn(usize, usize) -> f32 + Sync),
) -> Result<Vec<i32>, Refusal> {
    let facts = |mn: usize| LineFacts::of((0..k).map(move |k| element(mn, k)));
    let facts: Vec<LineFacts> = parallel_map(mn, facts);
    if let Some(line) = facts.iter().position(LineFacts::is_refused).filter(|_| program.windowed) {
        return Err(Refusal::Emulation(EmulationRefusal::of(operand, line as u32, &facts[line])));
    }
    Ok(facts.iter().map(|facts| (program.shift)(facts.largest)).collect())
}
