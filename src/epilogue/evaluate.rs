//! An epilogue on the host: one operation after the other, each over a whole row.

use super::{
    desc::{EpilogueDesc, Op, SCALARS},
    function::{UserFunction, registered},
};
use crate::{
    numeric::{Compute, ComputeKind, Functions},
    operand::Vectors,
    refusal::Refusal,
};

/// What an epilogue reads, given its scalars.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reads {
    /// The accumulator, and so A and B.
    pub accumulator: bool,
    /// C.
    pub source: bool,
    /// Vectors.
    pub vectors: Vectors<()>,
}

impl EpilogueDesc {
    /// What the epilogue reads: a part that is scaled by 0 is not read.
    pub fn reads(&self, scalars: &[f64; SCALARS]) -> Reads {
        // A stack of sets of leaves, eight bits each, the last node's lowest: no tree has more than
        // sixteen at once.
        let push = |stack: u128, (at, op): (usize, &Op)| {
            let zero = matches!(op, Op::Scale)
                && self.scale_of(at).is_some_and(|slot| scalars[slot] == 0.0);
            let parts = match op.arity() {
                1 => stack,
                2 if !zero => stack | stack >> 8,
                _ => 0,
            };
            let leaf = match op {
                Op::Accumulator => 1,
                Op::Source => 2,
                Op::Vector(kind) => 4 << kind.index(),
                _ => 0,
            };
            stack >> (8 * op.arity()) << 8 | parts & 0xff | leaf
        };
        let read = self.ops().iter().enumerate().fold(0, push);
        let vectors = Vectors::by(|kind| (read & 4 << kind.index() != 0).then_some(()));
        Reads { accumulator: read & 1 != 0, source: read & 2 != 0, vectors }
    }

    /// Whether this process knows every user function, and each computes in what the epilogue does.
    ///
    /// # Errors
    /// [`Refusal`] naming the first that is not so.
    pub fn check_functions(&self, compute: ComputeKind) -> Result<(), Refusal> {
        for op in self.ops() {
            if let Op::User(id) = op {
                registered(*id).ok_or(Refusal::UnknownNode { id: id.0 })?.text(compute)?;
            }
        }
        Ok(())
    }
}

/// What an epilogue reads beside accumulators.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Beside<T> {
    /// Of C.
    pub source: Option<T>,
    /// Of vectors.
    pub vectors: Vectors<T>,
}

impl<T> Beside<T> {
    /// Nothing.
    pub const NONE: Self = Self { source: None, vectors: Vectors::NONE };

    /// Something else of each.
    pub fn map<'a, U>(&'a self, f: impl Fn(&'a T) -> U) -> Beside<U> {
        Beside {
            source: self.source.as_ref().map(&f),
            vectors: self.vectors.as_ref().map(|_, vector| f(vector)),
        }
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

    /// A row that was read; zeros where none was.
    fn push_read(&mut self, row: Option<&[E]>, length: usize) {
        match row {
            Some(row) => self.push(row.iter().copied()),
            None => self.push(core::iter::repeat_n(E::default(), length)),
        }
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

/// The epilogue of a row of accumulators, and the same row of what else it reads.
///
/// The description has been checked, and so have its functions; one that is not known, or not of
/// these numbers, leaves its operand as it is.
pub fn evaluate<'r, E: Compute>(
    desc: &EpilogueDesc,
    scalars: &[f64; SCALARS],
    accumulators: &[E],
    beside: Beside<&[E]>,
    rows: &'r mut Rows<E>,
) -> &'r [E] {
    let length = accumulators.len();
    rows.depth = 0;
    for (at, op) in desc.ops().iter().enumerate() {
        match *op {
            Op::Nop => {}
            Op::Accumulator => rows.push(accumulators.iter().copied()),
            Op::Source => rows.push_read(beside.source, length),
            Op::Vector(kind) => rows.push_read(beside.vectors.get(kind).copied(), length),
            Op::Scalar(slot) => rows.push(core::iter::repeat_n(
                E::from_scalar(scalars[slot as usize % SCALARS]),
                length,
            )),
            Op::Constant(x) => {
                rows.push(core::iter::repeat_n(E::from_scalar(f64::from(x)), length))
            }
            Op::Add => rows.zip(E::plus),
            Op::Multiply => rows.zip(E::times),
            Op::Scale => {
                // As the device sees it: a scalar that rounds to 0 is 0.
                if desc
                    .scale_of(at)
                    .is_some_and(|slot| E::from_scalar(scalars[slot]) == E::default())
                {
                    rows.zip(|_, _| E::default());
                } else {
                    rows.zip(E::times);
                }
            }
            Op::Minimum => rows.zip(E::at_most),
            Op::Maximum => rows.zip(E::at_least),
            Op::Relu => rows.map(|x| x.at_least(E::default())),
            Op::User(id) => {
                if let Some(UserFunction { host: f32, f64, .. }) = registered(id) {
                    let f64 = f64.map_or(core::convert::identity as fn(f64) -> f64, |function| {
                        function.host
                    });
                    rows.map(|x| x.through(Functions { f32, f64 }));
                }
            }
        }
    }
    &rows.stack[0]
}
