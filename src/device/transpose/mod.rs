//! `D = Aᵀ`, and `D = alpha Aᵀ + beta B`: the transpose as a device operator.
//!
//! The anatomy is GEMM's. [`Transpose`] is the type that a user writes; a [`TransposeDesc`] is the
//! value that it becomes; the host runs the value, or the generated header makes it a kernel.
//!
//! ```text
//!            A, row-major                    shared memory                      D, row-major
//!   a thread reads `turn` rows of      puts `access_a` columns, each        and takes `access_d` neighbours
//!   `access_a` neighbours              `turn` neighbours of D               of D
//!
//!         columns                            rows                               rows
//!       + - - - - - +                    + - - - - - +                      + - - - - - +
//!  rows | a b c d   |     turned         | a e .     |       a barrier      | a e . . . |  columns
//!       | e f g h   |   in registers     | b f .     |                      | b f . . . |
//!       | . . . .   |                    | c g .     |                      |           |
//! ```

#[cfg(feature = "cuda")]
mod kernel;

#[cfg(feature = "cuda")]
pub use kernel::TransposeKernel;

use super::executor::{Executor, TransposeCallIn};
use crate::{
    call::{Elements, MatrixElements, View},
    desc::Auto,
    error::Error,
    layout::Order,
    numeric::MathType,
    pass::transpose::{Configuration, TransposeArguments, TransposeDesc, TransposeProblem},
    refusal::Refusal,
};
use core::{fmt, marker::PhantomData};

/// The transpose of matrices of `T`, by one kernel.
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
    /// The transpose of these types.
    #[must_use]
    pub fn new() -> Self {
        Self(PhantomData)
    }

    /// The description of the kernel that runs these arguments, were all addresses multiples of 16
    /// bytes.
    pub fn desc<S: Executor>(&self, arguments: &TransposeArguments<'_, S, T>) -> TransposeDesc {
        Config::CHOICE.desc(arguments.combine, T::KIND.bytes_of(1), &arguments.problem())
    }

    /// Whether these arguments can be computed: sizes, leading dimensions, strides.
    ///
    /// # Errors
    /// A [`Refusal`] with the operand, its value and the limit.
    pub fn can_implement<S: Executor>(
        &self,
        arguments: &TransposeArguments<'_, S, T>,
    ) -> Result<(), Refusal> {
        arguments.problem().check(&self.desc(arguments))
    }

    /// Transposes: on the host for host slices, on their device for device slices.
    ///
    /// On a device, the work is enqueued on D's stream; nothing is allocated, and nothing waits but
    /// for a kernel that is not compiled yet.
    ///
    /// # Errors
    /// [`Error::Refused`] when the arguments do not fit; see [`Error`] for the others.
    pub fn run<S: Executor>(&self, arguments: TransposeArguments<'_, S, T>) -> Result<(), Error> {
        let (queue, combine) = (S::queue(&arguments.d), arguments.combine);
        S::transpose(Config::CHOICE, combine, &queue, arguments.call(&queue))
    }
}

impl<'a, S: Executor, T: MathType> TransposeArguments<'a, S, T> {
    /// The problem without its data; what was not given is that of packed matrices.
    fn problem(&self) -> TransposeProblem {
        let ((rows, columns), batch, scalars) = (self.extents, self.batch, self.scalars);
        let matrix = |which: usize, length, extents| {
            let packed =
                View::packed(Elements::of(length), Order::Row, extents, self.leading[which]);
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

    /// The call.
    fn call<'q>(self, queue: &'q S::Queue) -> TransposeCallIn<'q, S>
    where
        'a: 'q,
    {
        let problem = self.problem();
        problem.with(
            T::read::<S>(self.a, queue),
            self.b.map(|b| T::read::<S>(b, queue)),
            T::write::<S>(self.d, queue),
        )
    }
}
