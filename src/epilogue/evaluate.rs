//! Evaluation of an epilogue on the host: one operation after another, each over a whole row.

use super::{
    desc::{CAPACITY, EpilogueDesc, LOCALS, Op, SCALARS},
    function::{UserBody, UserFunction, registered},
    math::MathFunction,
};
use crate::{
    nest::GemmDesc,
    numeric::{BinaryFunctions, Compute, ComputeKind, Functions},
    refusal::Refusal,
    shape::{EpilogueOperand, EpilogueOperands},
};

/// Inputs that an epilogue reads, and operands that it writes, given its scalars.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reads {
    /// Whether it reads the accumulator, and therefore A and B.
    pub accumulator: bool,
    /// Operands that it reads or writes.
    pub operands: EpilogueOperands<()>,
}

impl Reads {
    /// Returns whether the epilogue reads or writes an operand.
    pub const fn reads(&self, operand: EpilogueOperand) -> bool {
        self.operands.get(operand).is_some()
    }

    /// Returns whether the epilogue reads C.
    pub const fn source(&self) -> bool {
        self.reads(EpilogueOperand::Source)
    }
}

impl EpilogueDesc {
    /// Returns the inputs that the epilogue reads, and the operands that it writes. A subtree that
    /// is scaled by 0 is not read, except values that it writes.
    #[doc(hidden)]
    pub fn reads(&self, scalars: &[f64; SCALARS]) -> Reads {
        // Stack of sets: bit 0 is the accumulator, and the bits after it are the operands.
        let (mut stack, mut depth) = ([0u32; CAPACITY], 0usize);
        let (mut locals, mut written) = ([0u32; LOCALS], 0);
        for (at, op) in self.ops().iter().enumerate() {
            let zero = matches!(op, Op::Scale)
                && self.scale_of(at).is_some_and(|slot| scalars[slot] == 0.0);
            let first = depth.saturating_sub(op.arity());
            let below = stack[first..depth].iter().fold(0, |set, other| set | other);
            let leaf = match op {
                Op::Accumulator | Op::Gate | Op::Up => 1,
                Op::Operand(operand, _) | Op::Write(operand, _) => 2 << operand.index(),
                Op::Local(slot) => locals[*slot as usize % LOCALS],
                _ => 0,
            };
            // Definitions are read where their names are.
            let last = if matches!(op, Op::Then) { stack[first + 1] } else { below };
            stack[first] = leaf | if zero { 0 } else { last };
            match op {
                Op::Let(slot) => locals[*slot as usize % LOCALS] = stack[first],
                Op::Write(..) => written |= stack[first],
                _ => {}
            }
            depth = first + 1;
        }
        let read = stack[0] | written;
        let operands =
            EpilogueOperands::by(|operand| (read & 2 << operand.index() != 0).then_some(()));
        Reads { accumulator: read & 1 != 0, operands }
    }

    /// Checks that every user function is registered in this process and supports the compute type.
    ///
    /// # Errors
    /// [`Refusal`] for the first function that is unknown or does not.
    pub fn check_functions(&self, compute: ComputeKind) -> Result<(), Refusal> {
        for op in self.ops() {
            if let Some(id) = op.user() {
                registered(id)
                    .filter(|function| function.arity() == op.arity())
                    .ok_or(Refusal::unknown_node(id.0))?
                    .text(compute)?;
            }
        }
        Ok(())
    }
}

impl GemmDesc {
    /// Returns what the epilogue reads and writes, given scalars that a call passes. A scalar that
    /// rounds to 0 is 0.
    pub(crate) fn reads(&self, scalars: &[f64; SCALARS]) -> Reads {
        self.epilogue.reads(&scalars.map(|scalar| self.output.compute.rounded(scalar)))
    }
}

/// Reusable buffers for the rows of an evaluation.
#[derive(Default)]
pub struct Rows<E> {
    stack: Vec<Vec<E>>,
    depth: usize,
    /// Named values, by slot.
    locals: [Vec<E>; LOCALS],
    /// Values that the epilogue writes, by operand.
    pub written: EpilogueOperands<Vec<E>>,
}

impl<E: Compute> Rows<E> {
    fn push(&mut self, row: impl Iterator<Item = E>) {
        if self.depth == self.stack.len() {
            self.stack.push(Vec::new());
        }
        self.stack[self.depth].clear();
        self.stack[self.depth].extend(row);
        self.depth += 1;
    }

    /// Pushes an input row, or zeros if the input is not read.
    fn push_read(&mut self, row: Option<&[E]>, length: usize) {
        match row {
            Some(row) => self.push(row.iter().copied()),
            None => self.push(core::iter::repeat_n(E::default(), length)),
        }
    }

    /// Replaces the last rows by a mathematical function of them.
    fn apply(&mut self, function: MathFunction) {
        if function.arity() == 1 {
            function.apply(&mut self.stack[self.depth - 1]);
            return;
        }
        self.depth -= 1;
        let (left, right) = self.stack.split_at_mut(self.depth);
        function.apply_to_both(&mut left[self.depth - 1], &mut right[0]);
    }

    /// Drops the row before the last.
    fn keep_last(&mut self) {
        self.depth -= 1;
        self.stack.swap(self.depth - 1, self.depth);
    }

    /// Applies a function to the last row.
    fn map(&mut self, f: impl Fn(E) -> E) {
        self.stack[self.depth - 1].iter_mut().for_each(|x| *x = f(*x));
    }

    /// Replaces the last two rows by a function of both.
    fn zip(&mut self, f: impl Fn(E, E) -> E) {
        self.depth -= 1;
        let (left, right) = self.stack.split_at_mut(self.depth);
        left[self.depth - 1].iter_mut().zip(&right[0]).for_each(|(x, y)| *x = f(*x, *y));
    }
}

/// Applies the epilogue to a row of accumulators and to the same row of its other inputs. An
/// epilogue with a gate reads pairs of accumulators: the gate, and its partner.
///
/// The description and its functions must be checked. A function that is unknown or does not
/// support the compute type is the identity.
pub fn evaluate<'r, E: Compute>(
    desc: &EpilogueDesc,
    scalars: &[f64; SCALARS],
    accumulators: &[E],
    inputs: &EpilogueOperands<&[E]>,
    rows: &'r mut Rows<E>,
) -> &'r [E] {
    let length = accumulators.len() / desc.columns_per_output();
    rows.depth = 0;
    for (at, op) in desc.ops().iter().enumerate() {
        match *op {
            Op::Nop => {}
            Op::Accumulator => rows.push(accumulators.iter().copied()),
            Op::Gate => rows.push(accumulators.iter().step_by(2).copied()),
            Op::Up => rows.push(accumulators.iter().skip(1).step_by(2).copied()),
            Op::Operand(operand, _) => rows.push_read(inputs.get(operand).copied(), length),
            Op::Scalar(slot) => rows.push(core::iter::repeat_n(
                E::from_scalar(scalars[slot as usize % SCALARS]),
                length,
            )),
            Op::Constant(x) => rows.push(core::iter::repeat_n(E::from_scalar(x.value()), length)),
            Op::Let(slot) => {
                let Rows { stack, depth, locals, .. } = &mut *rows;
                locals[slot as usize % LOCALS].clone_from(&stack[*depth - 1]);
            }
            Op::Local(slot) => {
                let value = core::mem::take(&mut rows.locals[slot as usize % LOCALS]);
                rows.push(value.iter().copied());
                rows.locals[slot as usize % LOCALS] = value;
            }
            Op::Then => rows.keep_last(),
            Op::Write(operand, _) => {
                let Rows { stack, depth, written, .. } = &mut *rows;
                written.slot(operand).get_or_insert_default().clone_from(&stack[*depth - 1]);
            }
            Op::Scale => {
                // As on the device, a scalar that rounds to 0 is 0.
                if desc
                    .scale_of(at)
                    .is_some_and(|slot| E::from_scalar(scalars[slot]) == E::default())
                {
                    rows.zip(|_, _| E::default());
                } else if desc.scales_by_memory(at) {
                    let zero = E::default();
                    rows.zip(|scale, x| if scale == zero { zero } else { scale.times(x) });
                } else {
                    rows.zip(E::times);
                }
            }
            Op::Math(function) => rows.apply(function),
            Op::User(id) => {
                if let Some(UserFunction { body: UserBody::Unary { host: f32, f64 }, .. }) =
                    registered(id)
                {
                    let f64 = f64.unwrap_or(core::convert::identity);
                    rows.map(|x| x.through(Functions { f32, f64 }));
                }
            }
            Op::UserBinary(id) => match registered(id) {
                Some(UserFunction { body: UserBody::Binary { host: f32, f64 }, .. }) => {
                    let f64 = f64.unwrap_or(|x, _| x);
                    rows.zip(|x, y| x.through_both(y, BinaryFunctions { f32, f64 }));
                }
                _ => rows.depth -= 1,
            },
        }
    }
    &rows.stack[0]
}
