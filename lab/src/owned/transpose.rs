//! A transpose in host memory whose element type is a run-time value.

use super::{HostMatrix, room};
use crate::verify::{
    Distribution, HostBuffer,
    transpose::{TransposeVerdict, verdict},
};
use falchion::{
    Error,
    device::run_on_host,
    internals::{
        call::{Elements, Source, View},
        host::Mode,
        pass::transpose::{Choice, Combine, HostTransposeCall, TransposeDesc, TransposeProblem},
    },
    layout::Order,
    numeric::ElementKind,
};

/// A batch of transposes with its matrices, stacked by rows: A is `batch rows` x `columns`, and B
/// and D are `batch columns` x `rows`.
///
/// ```
/// use falchion::{internals::{host::Mode, pass::transpose::{Choice, TransposeProblem}}, layout::Order, numeric::ElementKind};
/// use falchion_lab::owned::HostTranspose;
///
/// let mut transpose = HostTranspose::poisoned(ElementKind::Bf16, Choice::Auto, &TransposeProblem::packed(2, 3))?;
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
    problem: TransposeProblem,
    choice: Choice,
}

impl HostTranspose {
    /// Allocates the matrices of a problem, filled with poison. Leading dimensions are those of the
    /// problem, and the matrices of a batch are stacked by rows. All properties of the problem are
    /// checked before any allocation.
    ///
    /// # Errors
    /// The refusals of a run of the problem, and [`Refusal`](falchion::Refusal) of too little
    /// memory.
    pub fn poisoned(
        kind: ElementKind,
        choice: Choice,
        problem: &TransposeProblem,
    ) -> Result<Self, Error> {
        let TransposeProblem { rows, columns, batch, scalars, .. } = *problem;
        let leading = |view: &View<Elements>| Some(view.leading(Order::Row));
        let leading =
            [leading(&problem.a), problem.b.matrix().and_then(leading), leading(&problem.d)];
        let problem = TransposeProblem::of((rows, columns), batch, leading, scalars);
        let desc = choice.desc(Combine::of(kind, scalars), kind.bytes_of(1), &problem);
        desc.check()?;
        problem.check(&desc)?;
        // A matrix that is not read has not been checked.
        let [(a, of_a), (d, of_d)] = [(problem.a, (rows, columns)), (problem.d, (columns, rows))];
        let elements = [Some((a, of_a)), problem.b.matrix().map(|&b| (b, of_d)), Some((d, of_d))];
        room(
            elements
                .into_iter()
                .flatten()
                .map(|(view, extents)| (kind, view.elements(extents, batch))),
        )?;
        let matrix = |view: View<Elements>, (rows, columns): (usize, usize)| {
            HostMatrix::poisoned(
                kind,
                (rows.saturating_mul(batch), columns),
                Order::Row,
                view.leading(Order::Row),
            )
        };
        let (a, b, d) =
            (matrix(a, of_a)?, problem.b.try_map(|b| matrix(b, of_d))?, matrix(d, of_d)?);
        let memory = |matrix: &HostMatrix| matrix.view().memory;
        let problem = problem.with(memory(&a), b.as_ref().map(memory), memory(&d));
        Ok(Self { a, b, d, problem, choice })
    }

    /// Fills A and B with random elements from a seed.
    ///
    /// # Errors
    /// The errors of [`HostMatrix::draw`].
    pub fn draw(&mut self, seed: u64) -> Result<(), Error> {
        for (stream, matrix) in (0..).zip(self.operands()) {
            matrix.draw(Distribution::Random, seed.wrapping_mul(2).wrapping_add(stream))?;
        }
        Ok(())
    }

    /// Returns A, and B if it exists.
    pub fn operands(&mut self) -> impl Iterator<Item = &mut HostMatrix> {
        let b = match &mut self.b {
            Source::Matrix(b) => Some(b),
            Source::None | Source::InPlace => None,
        };
        core::iter::once(&mut self.a).chain(b)
    }

    /// Returns the problem without its data.
    pub fn problem(&self) -> &TransposeProblem {
        &self.problem
    }

    /// Returns the selection of the kernel.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// Returns the arithmetic on an element.
    pub fn combine(&self) -> Combine {
        Combine::of(self.d.kind(), self.problem.scalars)
    }

    /// Returns the description of the kernel.
    pub fn desc(&self) -> TransposeDesc {
        self.choice.desc(self.combine(), self.d.kind().bytes_of(1), &self.problem)
    }

    /// Returns the call, with D for writing.
    ///
    /// # Errors
    /// The errors of [`HostMatrix::slice`].
    pub fn call(&mut self) -> Result<HostTransposeCall<'_>, Error> {
        let b = self.b.as_ref().try_map(HostMatrix::slice)?;
        Ok(self.problem.with(self.a.slice()?, b, self.d.slice_mut()?))
    }

    /// Computes D on the host.
    ///
    /// # Errors
    /// The errors of [`run_on_host`].
    pub fn run(&mut self, mode: Mode) -> Result<(), Error> {
        run_on_host(&self.desc(), mode, self.call()?)
    }

    /// Compares every element of D with the definition, and the gaps between its rows with the
    /// original poison.
    ///
    /// # Errors
    /// The errors of [`verdict`].
    pub fn verify(&self) -> Result<TransposeVerdict, Error> {
        let before = HostBuffer::poisoned(self.d.kind(), self.problem.d.memory.length)?;
        let b = self.b.as_ref().try_map(HostMatrix::slice)?;
        let call = self.problem.with(self.a.slice()?, b, self.d.slice()?);
        verdict(self.combine(), &call, before.whole()?)
    }

    /// Returns the bytes that must be read and written: D, and A and B if they are read.
    pub fn traffic_bytes(&self) -> f64 {
        let s = &self.problem;
        let matrices = 1 + u32::from(s.reads_a()) + u32::from(s.source().is_some());
        f64::from(matrices * self.d.kind().bytes_of(1))
            * s.batch as f64
            * s.rows as f64
            * s.columns as f64
    }
}
