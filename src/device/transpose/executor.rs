//! What runs a transpose: one trait, one implementation for each space.

use crate::{
    call::{Host, HostSlice, HostSliceMut, Source},
    device::executor::Executor,
    error::Error,
    host::{Mode, transpose},
    numeric::Element,
    pass::transpose::{
        Choice, Combine, Strided, TransposeArguments, TransposeDesc, TransposeMatrices, TransposeProgram, TransposeShapes,
    },
};

/// A space whose matrices can be transposed where they are.
pub trait TransposeExecutor: Executor {
    /// Transposes.
    ///
    /// # Errors
    ///
    /// Those of [`Transpose::run`](super::Transpose::run).
    fn transpose<T: Element>(choice: Choice, arguments: TransposeArguments<'_, Self, T>) -> Result<(), Error>;

    /// The problem without its data; what was not given is that of packed matrices.
    fn transpose_shapes<T: Element>(arguments: &TransposeArguments<'_, Self, T>) -> TransposeShapes {
        let ((rows, columns), batch) = (arguments.extents, arguments.batch);
        let ([lda, ldb, ldd], [stride_a, stride_b, stride_d]) = (arguments.leading, arguments.strides);
        TransposeShapes {
            rows,
            columns,
            batch,
            a: Strided::of(rows, columns, lda, stride_a, Self::length(&arguments.a)),
            b: match &arguments.b {
                Source::None => Source::None,
                Source::InPlace => Source::InPlace,
                Source::Matrix(b) => Source::Matrix(Strided::of(columns, rows, ldb, stride_b, Self::length(b))),
            },
            d: Strided::of(columns, rows, ldd, stride_d, Self::length_mut(&arguments.d)),
            alpha: arguments.alpha,
            beta: arguments.beta,
        }
    }
}

impl TransposeExecutor for Host {
    fn transpose<T: Element>(choice: Choice, arguments: TransposeArguments<'_, Self, T>) -> Result<(), Error> {
        let (shapes, combine) = (Self::transpose_shapes(&arguments), arguments.combine);
        let matrices = TransposeMatrices {
            a: HostSlice::new::<T>(arguments.a),
            b: arguments.b.map(HostSlice::new::<T>),
            d: HostSliceMut::new::<T>(arguments.d),
        };
        run_transpose_on_host(choice, combine, Mode::Fast, &shapes, matrices)
    }
}

/// Transposes in host memory: the one way, for types and for values.
///
/// # Errors
///
/// [`Error::Refused`] when the kernel or the problem is refused, [`Error::Fault`] when the checked mode finds one.
pub fn run_transpose_on_host(
    choice: Choice,
    combine: Combine,
    mode: Mode,
    shapes: &TransposeShapes,
    matrices: TransposeMatrices<'_>,
) -> Result<(), Error> {
    // Accesses of a width that the extents allow: addresses do not matter here.
    let desc = choice.desc(combine, matrices.d.kind().bytes_of(1), shapes, [0; 3]);
    desc.check()?;
    shapes.check(&desc)?;
    transpose::run(&desc, mode, shapes, matrices)
}

/// Runs a program whose maps, schedule or description someone has changed, to see what becomes of it.
///
/// # Errors
///
/// Those of [`run_transpose_on_host`].
pub fn run_changed_transpose_on_host(
    program: &TransposeProgram,
    mode: Mode,
    shapes: &TransposeShapes,
    matrices: TransposeMatrices<'_>,
) -> Result<(), Error> {
    program.desc.check()?;
    shapes.check(&program.desc)?;
    transpose::run_changed(program, mode, shapes, matrices)
}

impl TransposeDesc {
    /// Blocks along a grid, at most, on any machine.
    pub(crate) const fn grid(&self) -> u32 {
        crate::arch::ArchKind::Sm70.machine().grid_x
    }
}
