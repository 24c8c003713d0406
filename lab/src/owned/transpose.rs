//! A transpose in host memory whose type is a value: what command lines and tests run.

use super::HostMatrix;
use crate::resources::available_bytes;
use crate::verify::{
    Distribution, HostBuffer,
    transpose::{TransposeVerdict, verdict},
};
use falchion::{
    Error,
    device::transpose::run_transpose_on_host,
    internals::{
        call::Source,
        host::Mode,
        pass::transpose::{Choice, Combine, Strided, TransposeDesc, TransposeMatrices, TransposeShapes},
    },
    layout::Order,
    numeric::ElementKind,
    refusal::Refusal,
};

/// A batch of transposes with its matrices, which lie one below another: A is `batch rows` x `columns`, B and D are
/// `batch columns` x `rows`.
///
/// ```
/// use falchion::{internals::{host::Mode, pass::transpose::{Choice, TransposeShapes}}, layout::Order, numeric::ElementKind};
/// use falchion_lab::owned::HostTranspose;
///
/// let mut transpose = HostTranspose::poisoned(ElementKind::Bf16, Choice::Auto, &TransposeShapes::packed(2, 3))?;
/// transpose.a.try_fill(Order::Row, |row, column| Ok::<_, falchion::Error>((row * 3 + column) as f64))?;
/// transpose.run(Mode::Fast)?;
/// assert!(transpose.verify()?.is_right());
/// let mut d = Vec::new();
/// transpose.d.try_each(Order::Row, |x| Ok::<_, falchion::Error>(d.push(x)))?;
/// assert_eq!(d, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
/// # Ok::<(), falchion::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HostTranspose {
    /// A.
    pub a: HostMatrix,
    /// B.
    pub b: Source<HostMatrix>,
    /// D.
    pub d: HostMatrix,
    shapes: TransposeShapes,
    choice: Choice,
}

impl HostTranspose {
    /// The matrices of a problem, all poison. Leading dimensions are those of `shapes`; strides are those of matrices one below
    /// another. Everything about the problem is checked before any memory is asked for.
    ///
    /// # Errors
    ///
    /// What a run of the problem would be refused for, and [`Refusal::OutOfMemory`].
    pub fn poisoned(kind: ElementKind, choice: Choice, shapes: &TransposeShapes) -> Result<Self, Error> {
        let TransposeShapes { rows, columns, batch, alpha, beta, .. } = *shapes;
        let b = shapes.b.matrix().map(|b| b.leading);
        let leading = [Some(shapes.a.leading), b, Some(shapes.d.leading)];
        let mut shapes = TransposeShapes::stacked((rows, columns), batch, leading, [alpha, beta]);
        let desc = choice.desc(Combine::of(kind, [alpha, beta]), kind.bytes_of(1), &shapes, [0; 3]);
        desc.check()?;
        shapes.check(&desc)?;
        // A matrix that is not read has not been checked.
        let elements = [
            shapes.a.elements(rows, columns, batch),
            shapes.b.matrix().map_or(0, |b| b.elements(columns, rows, batch)),
            shapes.d.elements(columns, rows, batch),
        ];
        let bytes = elements.into_iter().fold(0, u128::saturating_add).saturating_mul(u128::from(kind.bytes_of(1)));
        let needed = u64::try_from(bytes).unwrap_or(u64::MAX);
        let available = available_bytes().unwrap_or(isize::MAX as u64);
        if needed > available {
            return Err(Refusal::OutOfMemory { needed, available }.into());
        }
        let matrix = |matrix: Strided, rows: usize, columns: usize| {
            HostMatrix::poisoned(kind, (rows.saturating_mul(batch), columns), Order::Row, matrix.leading)
        };
        let (a, d) = (matrix(shapes.a, rows, columns)?, matrix(shapes.d, columns, rows)?);
        let b = match shapes.b {
            Source::Matrix(b) => Source::Matrix(matrix(b, columns, rows)?),
            _ => Source::None,
        };
        (shapes.a.length, shapes.d.length) = (a.view().memory.length, d.view().memory.length);
        if let (Source::Matrix(at), Source::Matrix(b)) = (&mut shapes.b, &b) {
            at.length = b.view().memory.length;
        }
        Ok(Self { a, b, d, shapes, choice })
    }

    /// Draws A and B from a seed.
    ///
    /// # Errors
    ///
    /// Those of [`HostMatrix::draw`].
    pub fn draw(&mut self, seed: u64) -> Result<(), Error> {
        for (stream, matrix) in (0..).zip(self.operands()) {
            matrix.draw(Distribution::Random, seed.wrapping_mul(2).wrapping_add(stream))?;
        }
        Ok(())
    }

    /// A, and B where there is one.
    pub fn operands(&mut self) -> impl Iterator<Item = &mut HostMatrix> {
        let b = match &mut self.b {
            Source::Matrix(b) => Some(b),
            Source::None | Source::InPlace => None,
        };
        core::iter::once(&mut self.a).chain(b)
    }

    /// The problem without its data.
    pub fn shapes(&self) -> &TransposeShapes {
        &self.shapes
    }

    /// How the kernel is chosen.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// What becomes of an element.
    pub fn combine(&self) -> Combine {
        Combine::of(self.d.kind(), [self.shapes.alpha, self.shapes.beta])
    }

    /// The kernel.
    pub fn desc(&self) -> TransposeDesc {
        self.choice.desc(self.combine(), self.d.kind().bytes_of(1), &self.shapes, [0; 3])
    }

    /// The matrices, D to be written.
    ///
    /// # Errors
    ///
    /// Those of [`HostMatrix::slice`].
    pub fn matrices(&mut self) -> Result<TransposeMatrices<'_>, Error> {
        let b = match &self.b {
            Source::None => Source::None,
            Source::InPlace => Source::InPlace,
            Source::Matrix(matrix) => Source::Matrix(matrix.slice()?),
        };
        Ok(TransposeMatrices { a: self.a.slice()?, b, d: self.d.slice_mut()? })
    }

    /// Computes D on the host.
    ///
    /// # Errors
    ///
    /// Those of [`run_transpose_on_host`].
    pub fn run(&mut self, mode: Mode) -> Result<(), Error> {
        let (choice, combine, shapes) = (self.choice, self.combine(), self.shapes);
        run_transpose_on_host(choice, combine, mode, &shapes, self.matrices()?)
    }

    /// Holds every element of D against the definition, and what lies between its rows against the poison that was there.
    ///
    /// # Errors
    ///
    /// Those of [`verdict`].
    pub fn verify(&self) -> Result<TransposeVerdict, Error> {
        let before = HostBuffer::poisoned(self.d.kind(), self.shapes.d.length)?;
        let before = before.slice(0..before.length())?;
        let b = self.b.matrix().map_or(Ok(before), HostMatrix::slice)?;
        verdict(self.combine(), &self.shapes, [self.a.slice()?, b, before], self.d.slice()?)
    }

    /// Bytes that have to be read and written: those of D, and of A and B where they are read.
    pub fn traffic_bytes(&self) -> f64 {
        let s = &self.shapes;
        let matrices = 1 + u32::from(s.reads_a()) + u32::from(s.source().is_some());
        f64::from(matrices * self.d.kind().bytes_of(1)) * s.batch as f64 * s.rows as f64 * s.columns as f64
    }
}
