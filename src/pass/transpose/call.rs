//! One call of a transpose: extents, scalars, and matrices, with the check against a kernel.

use super::desc::{Combine, TransposeDesc};
use crate::{
    call::{
        Elements, HostSlice, HostSliceMut, LARGEST, Memory, Source, View, check_memory,
        check_output, check_written,
    },
    layout::Order,
    refusal::{Field, Operand, Refusal, Scalar},
    shape::{Mn, Mnk},
    thread::access::dividing,
    threadblock::{Work, WorkKind},
};

/// A batch of `D = Aᵀ` or `D = alpha Aᵀ + beta B` on row-major matrices. Inputs are in memory `R`,
/// and outputs in memory `W`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransposeCall<R, W = R> {
    /// Rows of A and columns of D.
    pub rows: usize,
    /// Columns of A and rows of D.
    pub columns: usize,
    /// Number of transposes.
    pub batch: usize,
    /// A, a `rows` x `columns` matrix.
    pub a: View<R>,
    /// B, a `columns` x `rows` matrix.
    pub b: Source<View<R>>,
    /// D, a `columns` x `rows` matrix.
    pub d: View<W>,
    /// The scalars alpha, which scales Aᵀ, and beta, which scales B.
    pub scalars: [f64; 2],
}

/// A call without its data.
pub type TransposeProblem = TransposeCall<Elements>;

/// A call on matrices in host memory.
pub type HostTransposeCall<'a> = TransposeCall<HostSlice<'a>, HostSliceMut<'a>>;

impl<R: Memory, W: Memory> TransposeCall<R, W> {
    /// Returns the call without its data.
    pub fn problem(&self) -> TransposeProblem {
        let Self { rows, columns, batch, scalars, .. } = *self;
        let (a, b, d) =
            (self.a.without_data(), self.b.as_ref().map(View::without_data), self.d.without_data());
        TransposeCall { rows, columns, batch, a, b, d, scalars }
    }
}

impl<R: Memory, W: Memory> TransposeCall<R, W> {
    /// Checks the element types of the matrices, unless a problem states none.
    ///
    /// # Errors
    /// [`Refusal`] of an element type, an element size, or a misaligned address.
    pub(crate) fn check_types(&self, desc: &TransposeDesc) -> Result<(), Refusal> {
        let Some(given) = self.d.memory.kind() else { return Ok(()) };
        let wanted = desc.combine.kind().unwrap_or(given);
        check_memory(Operand::D, &self.d.memory, wanted)?;
        check_memory(Operand::A, &self.a.memory, wanted)?;
        self.b.matrix().map_or(Ok(()), |b| check_memory(Operand::B, &b.memory, wanted))?;
        let bytes = desc.element_bytes;
        if given.bytes_of(1) == bytes { Ok(()) } else { Err(Refusal::element_bytes(given, bytes)) }
    }
}

impl TransposeProblem {
    /// Returns a batch of `rows` x `columns` matrices, one below another. Leading dimensions of A,
    /// B, and D that are `None` are packed. B exists if beta is not 0.
    pub fn of(
        (rows, columns): (usize, usize),
        batch: usize,
        [lda, ldb, ldd]: [Option<usize>; 3],
        scalars: [f64; 2],
    ) -> Self {
        let of = |extents, leading| View::packed(Elements::ALL, Order::Row, extents, leading);
        let b =
            if scalars[1] == 0.0 { Source::None } else { Source::Matrix(of((columns, rows), ldb)) };
        Self {
            rows,
            columns,
            batch,
            a: of((rows, columns), lda),
            b,
            d: of((columns, rows), ldd),
            scalars,
        }
    }

    /// Returns the problem of one packed matrix without B, in memory of exactly its length.
    pub fn packed(rows: usize, columns: usize) -> Self {
        let (problem, memory) = (
            Self::of((rows, columns), 1, [None; 3], [1.0, 0.0]),
            Elements::of(rows.saturating_mul(columns)),
        );
        Self { a: problem.a.with(memory), d: problem.d.with(memory), ..problem }
    }

    /// Returns the problem with A, B, and D at these addresses.
    #[must_use]
    pub fn at(self, [a, b, d]: [u64; 3]) -> Self {
        let at = |view: View<Elements>, address| view.with(Elements { address, ..view.memory });
        Self { a: at(self.a, a), b: self.b.map(|view| at(view, b)), d: at(self.d, d), ..self }
    }

    /// Returns the call of this problem on some matrices.
    pub fn with<R, W>(&self, a: R, b: Source<R>, d: W) -> TransposeCall<R, W> {
        let Self { rows, columns, batch, scalars, .. } = *self;
        TransposeCall {
            rows,
            columns,
            batch,
            a: self.a.with(a),
            b: self.b.with(b),
            d: self.d.with(d),
            scalars,
        }
    }

    /// Returns whether D depends on A.
    pub fn reads_a(&self) -> bool {
        self.scalars[0] != 0.0
    }

    /// Returns whether D depends on B.
    pub fn reads_b(&self) -> bool {
        self.scalars[1] != 0.0
    }

    /// Returns whether D has no elements.
    pub const fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0 || self.batch == 0
    }

    /// Returns B if it is read. In place, B is D.
    pub fn source(&self) -> Option<View<Elements>> {
        self.b.or(self.d).filter(|_| self.reads_b())
    }

    /// Returns the work of a kernel of `desc`, with one CTA per tile of D.
    ///
    /// # Errors
    /// [`Refusal`] of too many tiles.
    pub fn work(&self, desc: &TransposeDesc) -> Result<Work, Refusal> {
        // A gathered tile is written in aligned accesses. A row of D may therefore begin inside the
        // access that precedes the first tile.
        let before =
            if desc.is_gathered() && self.rows > 0 { desc.access_d as usize - 1 } else { 0 };
        let (tile, one) = (Mnk { m: desc.columns, n: desc.rows, k: 1 }, Mn::ONE);
        let extents = (self.columns, self.rows.saturating_add(before));
        Work::of(
            (WorkKind::DataParallel, desc.order, 1),
            (tile, one),
            (extents, self.batch, 0),
            u32::MAX,
        )
    }

    /// Checks that a kernel of description `desc` supports the sizes, orders, strides, and scalars
    /// of the problem.
    ///
    /// # Errors
    /// A [`Refusal`] with the operand, its value, and the limit.
    pub fn check(&self, desc: &TransposeDesc) -> Result<(), Refusal> {
        for (field, value) in [(Field::Rows, self.rows), (Field::Columns, self.columns)] {
            if value > LARGEST {
                return Err(Refusal::extent_too_large(field, value, LARGEST as u64));
            }
        }
        if matches!(desc.combine, Combine::Move) && (self.scalars[0] != 1.0 || self.reads_b()) {
            return Err(Refusal::not_scaled(if self.reads_b() {
                Scalar::BETA
            } else {
                Scalar::ALPHA
            }));
        }
        let (across, batch) = ((self.columns, self.rows), self.batch);
        check_written(&self.d, Order::Row, across, batch)?;
        if self.reads_a() {
            check_output(Operand::A, &self.a, Order::Row, (self.rows, self.columns), batch)?;
        }
        match &self.b {
            Source::Matrix(b) if self.reads_b() => {
                check_output(Operand::B, b, Order::Row, across, batch)?
            }
            Source::None if self.reads_b() => {
                return Err(Refusal::missing_operand(Operand::B));
            }
            _ => {}
        }
        self.work(desc).map(drop)
    }

    /// Returns the elements per access to A and to D that the problem allows, at most those of
    /// `desc`.
    pub(crate) fn widths(&self, desc: &TransposeDesc) -> (u32, u32) {
        // A matrix that is not read has no limit. A single row has no pitch, and a single matrix
        // has no batch stride.
        let of = |matrix: View<Elements>, rows: usize| {
            let next = |count: usize, stride: usize| if count > 1 { stride as u64 } else { 0 };
            let first = matrix.memory.address / u64::from(desc.element_bytes.max(1));
            [first, next(rows, matrix.leading(Order::Row)), next(self.batch, matrix.batch_stride)]
        };
        let mut access_a = dividing(desc.access_a, &[self.columns as u64]);
        if self.reads_a() {
            access_a = dividing(access_a, &of(self.a, self.rows));
        }
        let mut access_d = dividing(desc.access_d, &of(self.d, self.columns));
        if let Some(b) = self.source() {
            access_d = dividing(access_d, &of(b, self.columns));
        }
        (access_a, dividing(access_d, &[self.rows as u64]))
    }
}
