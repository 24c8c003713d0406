//! The problem of a transpose. `D = alpha * Aᵀ + beta * C` is a GEMM `D = alpha * (Aᵀ * I) +
//! beta * C`, whose B is the identity and has no memory.

use crate::{
    epilogue::SCALARS,
    layout::Order,
    numeric::ElementKind,
    operand::{Call, Elements, Indices, Matrices, Memory, Problem, Source, UpMatrix, View},
    shape::EpilogueOperands,
};

impl Problem {
    /// Returns the problem of a transpose, `D = alpha * Aᵀ + beta * C`, or of a batch of
    /// consecutive transposes. A is a row-major `rows` x `columns` matrix. Leading dimensions of A,
    /// C, and D that are `None` are packed. C exists if beta is not 0.
    pub fn transpose(
        (rows, columns): (usize, usize),
        batch: usize,
        [lda, ldc, ldd]: [Option<usize>; 3],
        [alpha, beta]: [f64; 2],
    ) -> Self {
        let row_major =
            |extents, leading| View::packed(Elements::ALL, Order::Row, extents, leading);
        let across = (columns, rows);
        let c = if beta == 0.0 { Source::None } else { Source::Matrix(row_major(across, ldc)) };
        let mut scalars = [0.0; SCALARS];
        (scalars[0], scalars[1]) = (alpha, beta);
        Self {
            m: columns,
            n: rows,
            k: rows,
            batch,
            groups: None,
            indices: Indices::NONE,
            a: row_major((rows, columns), lda).transposed(),
            b: View::new(Elements::new(0), Order::Row, 0),
            up: UpMatrix::None,
            c,
            d: row_major(across, ldd),
            operands: EpilogueOperands::NONE,
            scalars,
            workspace: None,
        }
    }

    /// Returns the problem of one packed transpose without C, in memory of exactly its length.
    pub fn packed_transpose(rows: usize, columns: usize) -> Self {
        let problem = Self::transpose((rows, columns), 1, [None; 3], [1.0, 0.0]);
        let memory = Elements::new(rows.saturating_mul(columns));
        Self { a: problem.a.with(memory), d: problem.d.with(memory), ..problem }
    }

    /// Returns the bytes that a transpose of elements of type `kind` must read and write.
    pub fn transpose_bytes(&self, kind: ElementKind) -> f64 {
        let [alpha, beta, ..] = self.scalars.map(|scalar| f64::from(scalar != 0.0));
        let elements = self.batch as f64 * self.m as f64 * self.n as f64;
        (1.0 + alpha + beta) * elements * f64::from(kind.bytes_of(1))
    }

    /// Returns the call of a transpose with the given memory.
    pub fn with_transposed<R: Memory, W>(&self, a: R, c: Source<R>, d: W) -> Call<R, W> {
        self.with(Matrices { a, b: R::empty(), c, d, operands: EpilogueOperands::NONE })
    }
}
