//! `D = Aᵀ`, and `D = alpha Aᵀ + beta B`: the transpose as a device operator.
//!
//! [`Transpose`] is the operator, and a `TransposeDesc` describes its kernel. The host executes the
//! description, and a generated header configures the CUDA kernel from the description.
//!
//! ```text
//!            A, row-major                    shared memory                      D, row-major
//!   a thread reads `turn` rows of      writes `access_a` columns, each      and reads `access_d` neighbours
//!   `access_a` neighbours              `turn` neighbours of D               of D
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

use super::executor::{Executor, TransposeCallIn};
use crate::{
    call::{Elements, MatrixElements, Memory, View},
    desc::Auto,
    error::Error,
    layout::Order,
    numeric::MathType,
    pass::transpose::{Configuration, TransposeArguments, TransposeDesc, TransposeProblem},
    refusal::{Operand, Refusal},
};
use core::{fmt, marker::PhantomData};

/// A matrix transpose, `D = A^T`. For f32 and f64, `Transpose` also computes
/// `D = alpha * A^T + beta * B`.
/// [`TransposeArguments`] describes the layouts.
///
/// ```
/// use falchion::prelude::*;
///
/// let a: Vec<u8> = (0..6).collect();
/// let mut d = vec![0; 6];
/// Transpose::<u8>::new().run(TransposeArguments::new((2, 3), &a, &mut d))?;
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
    pub fn desc<S: Executor>(&self, arguments: &TransposeArguments<'_, S, T>) -> TransposeDesc {
        Config::CHOICE.desc(arguments.combine, T::KIND.bytes_of(1), &arguments.problem())
    }

    /// Checks sizes, leading dimensions, and strides.
    ///
    /// # Errors
    /// A [`Refusal`] names the operand, its value, and the limit.
    pub fn can_implement<S: Executor>(
        &self,
        arguments: &TransposeArguments<'_, S, T>,
    ) -> Result<(), Refusal> {
        arguments.check_views()?;
        arguments.problem().check(&self.desc(arguments))
    }

    /// Computes the transpose: on the CPU for host slices, on their GPU for device slices. On a
    /// GPU, `run` enqueues the work on the stream of D and allocates nothing. The first call of a
    /// kernel compiles the kernel.
    ///
    /// # Errors
    /// [`Error::Refused`] if the arguments do not fit. [`Error`] lists the other errors.
    pub fn run<S: Executor>(&self, arguments: TransposeArguments<'_, S, T>) -> Result<(), Error> {
        arguments.check_views()?;
        let (queue, combine) = (S::queue(&arguments.d), arguments.combine);
        S::transpose(Config::CHOICE, combine, &queue, arguments.call(&queue))
    }
}

impl<'a, S: Executor, T: MathType> TransposeArguments<'a, S, T> {
    /// Returns the problem without data. Default strides and leading dimensions describe packed
    /// matrices.
    fn problem(&self) -> TransposeProblem {
        let ((rows, columns), batch, scalars) = (self.extents, self.batch, self.scalars);
        let matrix = |which: usize, length, extents| {
            let of_view = self.views[which].and_then(|view| view.leading(Order::Row));
            let memory = Elements::of(length).skip(self.first(which));
            let packed = View::packed(memory, Order::Row, extents, of_view.or(self.leading[which]));
            packed.batched(self.strides[which].unwrap_or(packed.batch_stride))
        };
        TransposeProblem {
            rows,
            columns,
            batch,
            a: matrix(0, S::length(&self.a), (rows, columns)),
            b: self.b.as_ref().map(|b| matrix(1, S::length(b), (columns, rows))),
            d: matrix(2, S::length_mut(&self.d), (columns, rows)),
            scalars,
        }
    }

    /// Returns the call.
    fn call<'q>(self, queue: &'q S::Queue) -> TransposeCallIn<'q, S>
    where
        'a: 'q,
    {
        let problem = self.problem();
        let first = [0, 1, 2].map(|which| self.first(which));
        problem.with(
            T::read::<S>(self.a, queue).skip(first[0]),
            self.b.map(|b| T::read::<S>(b, queue).skip(first[1])),
            T::write::<S>(self.d, queue).skip(first[2]),
        )
    }

    /// Checks that views have the shapes of the call, and are row-major.
    ///
    /// # Errors
    /// The errors of [`ViewGeometry::check`], and [`Refusal::Strides`] for another order.
    fn check_views(&self) -> Result<(), Refusal> {
        let (rows, columns) = self.extents;
        let operands = [Operand::A, Operand::B, Operand::D];
        let shapes = [(rows, columns), (columns, rows), (columns, rows)];
        for (which, view) in self.views.iter().enumerate() {
            let Some(view) = view else { continue };
            view.check(operands[which], shapes[which], self.leading[which].is_some())?;
            if view.leading(Order::Row).is_none() {
                let (operand, order) = (operands[which], Some(Order::Row));
                return Err(Refusal::Strides { operand, strides: view.unsigned_strides(), order });
            }
        }
        Ok(())
    }

    /// Index of the first element of A, B, or D in its memory.
    fn first(&self, which: usize) -> usize {
        self.views[which].map_or(0, |view| view.first)
    }
}
