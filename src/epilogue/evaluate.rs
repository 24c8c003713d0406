//! An epilogue on the host: one operation after the other, each over a whole row.

use super::{
    desc::{EpilogueDesc, Op, SCALARS},
    function::registered,
};
use crate::{numeric::Compute, refusal::Refusal};

/// What an epilogue reads, given its scalars.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reads {
    /// The accumulator, and so A and B.
    pub accumulator: bool,
    /// C.
    pub source: bool,
}

impl EpilogueDesc {
    /// What the epilogue reads: a part that is scaled by 0 is not read.
    pub fn reads(&self, scalars: &[f64; SCALARS]) -> Reads {
        // A stack of bits for each, the last node's lowest.
        let (mut accumulator, mut source) = (0u64, 0u64);
        for (at, op) in self.ops().iter().enumerate() {
            let (parts, arity) = ((1 << op.arity()) - 1, op.arity());
            let zero = matches!(op, Op::Scale) && self.scale_of(at).is_some_and(|slot| scalars[slot] == 0.0);
            let push = |stack: u64, leaf: bool| stack >> arity << 1 | u64::from(leaf || stack & parts != 0 && !zero);
            accumulator = push(accumulator, matches!(op, Op::Accumulator));
            source = push(source, matches!(op, Op::Source));
        }
        Reads { accumulator: accumulator & 1 == 1, source: source & 1 == 1 }
    }

    /// The slot of the scalar that the `Scale` at `at` scales by, when it is a scalar.
    pub(super) fn scale_of(&self, at: usize) -> Option<usize> {
        match self.ops()[self.operand_before(at)?.checked_sub(1)?] {
            Op::Scalar(slot) => Some(slot as usize % SCALARS),
            _ => None,
        }
    }

    /// The first node of the operand that ends right before `at`.
    fn operand_before(&self, at: usize) -> Option<usize> {
        let mut missing = 1;
        let mut i = at;
        while missing > 0 {
            missing -= 1;
            i = i.checked_sub(1)?;
            missing += self.ops()[i].arity();
        }
        Some(i)
    }

    /// The user functions that this process does not know.
    ///
    /// # Errors
    ///
    /// [`Refusal`] naming the first.
    pub fn check_functions(&self) -> Result<(), Refusal> {
        for op in self.ops() {
            if let Op::User(id) = op
                && registered(*id).is_none()
            {
                return Err(Refusal::UnknownNode { id: id.0 });
            }
        }
        Ok(())
    }
}

/// Room for the rows of an evaluation, to be used again.
#[derive(Default)]
pub struct Rows<E> {
    stack: Vec<Vec<E>>,
    depth: usize,
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

    fn map(&mut self, f: impl Fn(E) -> E) {
        self.stack[self.depth - 1].iter_mut().for_each(|x| *x = f(*x));
    }

    fn zip(&mut self, f: impl Fn(E, E) -> E) {
        self.depth -= 1;
        let (left, right) = self.stack.split_at_mut(self.depth);
        left[self.depth - 1].iter_mut().zip(&right[0]).for_each(|(x, y)| *x = f(*x, *y));
    }
}

/// The epilogue of a row of accumulators and the same row of C. An empty `source` stands for zeros.
///
/// The description has been checked, and its functions are registered; a function that is not leaves its operand as it is.
pub fn evaluate<'r, E: Compute>(
    desc: &EpilogueDesc,
    scalars: &[f64; SCALARS],
    accumulators: &[E],
    source: &[E],
    rows: &'r mut Rows<E>,
) -> &'r [E] {
    let length = accumulators.len();
    rows.depth = 0;
    for (at, op) in desc.ops().iter().enumerate() {
        match *op {
            Op::Nop => {}
            Op::Accumulator => rows.push(accumulators.iter().copied()),
            Op::Source if source.is_empty() => rows.push(core::iter::repeat_n(E::default(), length)),
            Op::Source => rows.push(source.iter().copied()),
            Op::Scalar(slot) => rows.push(core::iter::repeat_n(E::from_scalar(scalars[slot as usize % SCALARS]), length)),
            Op::Constant(x) => rows.push(core::iter::repeat_n(E::from_scalar(f64::from(x)), length)),
            Op::Add => rows.zip(E::plus),
            Op::Multiply => rows.zip(E::times),
            Op::Scale => {
                // As the device sees it: a scalar that rounds to 0 is 0.
                if desc.scale_of(at).is_some_and(|slot| E::from_scalar(scalars[slot]) == E::default()) {
                    rows.zip(|_, _| E::default());
                } else {
                    rows.zip(E::times);
                }
            }
            Op::Minimum => rows.zip(E::at_most),
            Op::Maximum => rows.zip(E::at_least),
            Op::Relu => rows.map(|x| x.at_least(E::default())),
            Op::User(id) => {
                if let Some(function) = registered(id) {
                    rows.map(|x| x.through(function.host));
                }
            }
        }
    }
    &rows.stack[0]
}
