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
    call::{MatrixElements, Memory, Placement},
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
        let (queue, combine) = (S::queue(&arguments.d.memory), arguments.combine);
        S::transpose(Config::CHOICE, combine, &queue, arguments.call(&queue))
    }
}

impl<'a, S: Executor, T: MathType> TransposeArguments<'a, S, T> {
    /// Returns the problem without data. Default strides and leading dimensions describe packed
    /// matrices.
    fn problem(&self) -> TransposeProblem {
        let ((rows, columns), across) = (self.extents, (self.extents.1, self.extents.0));
        let matrix =
            |placement: Placement, memory, extents| placement.view(memory, Order::Row, extents);
        let (a, b, d) = (&self.a, &self.b, &self.d);
        TransposeProblem {
            rows,
            columns,
            batch: self.batch,
            a: matrix(a.placement, T::elements::<S>(&a.memory), (rows, columns)),
            b: b.memory.as_ref().map(|of| matrix(b.placement, T::elements::<S>(of), across)),
            d: matrix(d.placement, T::elements_mut::<S>(&d.memory), across),
            scalars: self.scalars,
        }
    }

    /// Returns the call.
    fn call<'q>(self, queue: &'q S::Queue) -> TransposeCallIn<'q, S>
    where
        'a: 'q,
    {
        let (problem, Self { a, b, d, .. }) = (self.problem(), self);
        problem.with(
            T::read::<S>(a.memory, queue).skip(a.placement.first()),
            b.memory.map(|of| T::read::<S>(of, queue).skip(b.placement.first())),
            T::write::<S>(d.memory, queue).skip(d.placement.first()),
        )
    }

    /// Checks that views have the shapes of the call, and are row-major.
    ///
    /// # Errors
    /// The errors of [`Placement::check`], and [`Refusal`] for another order.
    fn check_views(&self) -> Result<(), Refusal> {
        let (rows, columns) = self.extents;
        let placements = [
            (Operand::A, self.a.placement, (rows, columns)),
            (Operand::B, self.b.placement, (columns, rows)),
            (Operand::D, self.d.placement, (columns, rows)),
        ];
        placements.into_iter().try_for_each(|(operand, placement, shape)| {
            placement.check(operand, shape)?;
            match placement.geometry {
                Some(view) if view.leading(Order::Row).is_none() => {
                    let (strides, order) = (view.unsigned_strides(), Some(Order::Row));
                    Err(Refusal::strides(operand, strides, order))
                }
                _ => Ok(()),
            }
        })
    }
}
