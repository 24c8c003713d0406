//! `D = Aᵀ`, and `D = alpha Aᵀ + beta C`: the transpose as a device operator.
//!
//! [`Transpose`] is the operator, and a `TransposeDesc` describes its kernel. The host executes the
//! description, and a generated header configures the CUDA kernel from the description.
//!
//! ```text
//!            A, row-major                    shared memory                      D, row-major
//!   a thread reads `thread_rows`     writes `access_a` columns,      and reads `access_d`
//!   rows of `access_a` elements      `thread_rows` elements of D each      elements of D
//!
//!         columns                            rows                               rows
//!       + - - - - - +                    + - - - - - +                      + - - - - - +
//!  rows | a b c d   |     transposed     | a e .     |       a barrier      | a e . . . |  columns
//!       | e f g h   |   in registers     | b f .     |                      | b f . . . |
//!       | . . . .   |                    | c g .     |                      |           |
//! ```

#[cfg(feature = "cuda")]
mod kernel;

#[cfg(feature = "cuda")]
pub use kernel::TransposeKernel;

use super::executor::{CallIn, Executor};
use crate::{
    Error,
    device::{Arguments, Identity, MatrixElements, Placement},
    epilogue::{LinearCombination, Node},
    layout::Order,
    nest::Auto,
    numeric::MathType,
    operand::{
        Memory, Problem, check_passed, check_read,
        transpose::{Configuration, TransposeDesc},
    },
    refusal::{Operand, Refusal},
    shape::Frame,
};
use core::{fmt, marker::PhantomData};

/// A matrix transpose, `D = A^T`. For f32 and f64, `Transpose` also computes
/// `D = alpha * A^T + beta * C`.
/// [`Arguments::transpose`] describes the layouts.
///
/// ```
/// use falchion::prelude::*;
///
/// let a: Vec<u8> = (0..6).collect();
/// let mut d = vec![0; 6];
/// Transpose::<u8>::new().run(Arguments::transpose((2, 3), &a, &mut d))?;
/// assert_eq!(d, [0, 3, 1, 4, 2, 5]);
/// # Ok::<(), falchion::Error>(())
/// ```
pub struct Transpose<T, Config = Auto>(PhantomData<fn() -> (T, Config)>);

impl<T, Config> Copy for Transpose<T, Config> {}

impl<T, Config> Clone for Transpose<T, Config> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: MathType, Config: Configuration> Default for Transpose<T, Config> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: MathType, Config: Configuration> fmt::Debug for Transpose<T, Config> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Transpose").field(&T::KIND).finish()
    }
}

impl<T: MathType, Config: Configuration> Transpose<T, Config> {
    /// Creates the transpose.
    #[must_use]
    pub fn new() -> Self {
        Self(PhantomData)
    }

    /// Returns the description of the kernel, for addresses that are multiples of 16 bytes.
    pub fn desc<S: Executor>(&self, arguments: &Arguments<'_, S, T, Identity, T>) -> TransposeDesc {
        Config::CHOICE.desc(T::KIND, &arguments.transpose_problem())
    }

    /// Checks sizes, leading dimensions, and strides.
    ///
    /// # Errors
    /// A [`Refusal`] names the operand, its value, and the limit.
    pub fn can_implement<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, T, Identity, T>,
    ) -> Result<(), Refusal> {
        arguments.check_transpose()?;
        self.desc(arguments).enter(arguments.transpose_problem()).map(drop)
    }

    /// Computes the transpose: on the CPU for host slices, on their GPU for device slices. On a
    /// GPU, `run` enqueues the work on the stream of D and allocates nothing. The first call of a
    /// kernel compiles the kernel.
    ///
    /// # Errors
    /// [`Error::Refused`] if the arguments do not fit. [`Error`] lists the other errors.
    pub fn run<S: Executor>(
        &self,
        arguments: Arguments<'_, S, T, Identity, T>,
    ) -> Result<(), Error> {
        arguments.check_transpose()?;
        let queue = arguments.queue();
        S::transpose(Config::CHOICE, &queue, arguments.transpose_call(&queue))
    }
}

impl<'a, S: Executor, T: MathType> Arguments<'a, S, T, Identity, T> {
    /// Returns the problem without data. Default strides and leading dimensions describe packed
    /// matrices.
    fn transpose_problem(&self) -> Problem {
        let (columns, rows, _) = self.extents;
        let [a, _, c, d] = self.placements();
        let row_major =
            |placement: Placement, memory, extents| placement.view(memory, Order::Row, extents);
        let (of_a, of_c) = (&self.a.memory, self.c.memory.as_ref());
        Problem {
            batch: self.batch,
            a: row_major(a, T::elements::<S>(of_a), (rows, columns)).transposed(),
            c: of_c.map(|of_c| row_major(c, T::elements::<S>(of_c), (columns, rows))),
            d: row_major(d, T::elements_mut::<S>(&self.d.memory), (columns, rows)),
            scalars: self.scalars,
            ..Problem::transpose((rows, columns), 1, [None; 3], [1.0, 0.0])
        }
    }

    fn transpose_call<'q>(self, queue: &'q S::Queue) -> CallIn<'q, S>
    where
        'a: 'q,
    {
        let (problem, [a, _, c, d]) =
            (self.transpose_problem(), self.placements().map(|placement| placement.first()));
        problem.with_transposed(
            T::read::<S>(self.a.memory, queue).skip(a),
            self.c.memory.map(|of_c| T::read::<S>(of_c, queue).skip(c)),
            T::write::<S>(self.d.memory, queue).skip(d),
        )
    }

    /// Checks that a transpose reads every argument, and that views have the shapes of the call.
    fn check_transpose(&self) -> Result<(), Refusal> {
        if self.groups.is_some() {
            return Err(Refusal::GROUPS_OF_TRANSPOSE);
        }
        if self.placements().iter().any(|at| at.geometry.is_some_and(|view| view.is_split())) {
            return Err(Refusal::split_of_others(Operand::A, "a transpose"));
        }
        if self.has_indices() {
            return Err(Refusal::INDICES_OF_TRANSPOSE);
        }
        let epilogue = <LinearCombination as Node>::DESC;
        let operands =
            self.operands.iter().map(|(operand, view)| (*operand, view.memory.is_written()));
        check_passed((&epilogue, Frame::USER), operands, false)?;
        check_read(&epilogue, &self.c.memory, &self.scalars)?;
        let ((columns, rows, _), [a, _, c, d]) = (self.extents, self.placements());
        a.check(Operand::A, (rows, columns))?;
        c.check(Operand::C, (columns, rows))?;
        d.check(Operand::D, (columns, rows))
    }
}
