//! `D = Aᵀ`, and `D = alpha Aᵀ + beta B`: the transpose as a device operator.
//!
//! The anatomy is GEMM's. [`Transpose`] is the type that a user writes; a [`TransposeDesc`] is the value that it becomes; the
//! host runs the value, or the generated header makes it a kernel.
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
//!
//! Twin: `kernels/device/transpose.cuh`.

mod arguments;
mod check;
mod desc;
mod executor;
mod explain;
#[cfg(feature = "serde")]
mod json;
mod maps;
mod resolve;
mod rungs;
mod spell;

pub use arguments::{Scalable, Strided, TransposeArguments, TransposeMatrices, TransposeShapes};
pub use desc::{Combine, Lanes, Staging, TransposeDesc};
pub use executor::{TransposeExecutor, run_changed_transpose_on_host, run_transpose_on_host};
pub use explain::TransposeExplanation;
pub use maps::{GatheredTile, PieceMap};
pub use resolve::Choice;
pub use rungs::{Coalesced, Naive, Padded, Rung, Tiled, Vectorized};
pub use spell::translation_unit;

use crate::{desc::Auto, error::Error, numeric::Element, refusal::Refusal};
use core::marker::PhantomData;

/// How a transpose is computed, as a type: [`Auto`], which looks at the problem, or a rung of the ladder.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a configuration of a transpose",
    note = "configurations are Auto, Naive, Tiled, Coalesced, Padded and Vectorized"
)]
pub trait Configuration: 'static {
    /// The same choice, as a value.
    const CHOICE: Choice;
}

impl Configuration for Auto {
    const CHOICE: Choice = Choice::Auto;
}

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

impl<T: Element, Config: Configuration> Transpose<T, Config> {
    /// The transpose of these types.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "as Gemm has none")]
    pub fn new() -> Self {
        Self(PhantomData)
    }

    /// The description of the kernel that runs these arguments, were all addresses multiples of 16 bytes.
    pub fn desc<S: TransposeExecutor>(&self, arguments: &TransposeArguments<'_, S, T>) -> TransposeDesc {
        Config::CHOICE.desc(arguments.combine, T::KIND.bytes(), &S::transpose_shapes(arguments), [0; 3])
    }

    /// Whether these arguments can be computed: sizes, leading dimensions, strides.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the operand, its value and the limit.
    pub fn can_implement<S: TransposeExecutor>(&self, arguments: &TransposeArguments<'_, S, T>) -> Result<(), Refusal> {
        S::transpose_shapes(arguments).check(&self.desc(arguments))
    }

    /// Transposes: on the host for host slices, on their device for device slices.
    ///
    /// On a device, the work is enqueued on D's stream; nothing is allocated, and nothing waits.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the arguments do not fit; see [`Error`] for the others.
    pub fn run<S: TransposeExecutor>(&self, arguments: TransposeArguments<'_, S, T>) -> Result<(), Error> {
        S::transpose(Config::CHOICE, arguments)
    }
}
