//! A product as cuBLASLt is asked for it, and its column-major form.

use cudarc::cublaslt::sys::cublasComputeType_t;
use falchion::{layout::Order, numeric::ElementKind};

/// A matrix in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LtOperand {
    /// Its element type.
    pub element: ElementKind,
    /// Its order in memory.
    pub order: Order,
    /// Elements from one row (of a row-major matrix) or column to the next.
    pub ld: u64,
    /// Elements from one matrix of the batch to the next.
    pub batch_stride: u64,
}

impl LtOperand {
    /// Bytes from the first element to past the last of `batch` matrices of `rows` x `columns`;
    /// `None` past the address space.
    #[must_use]
    pub fn span_bytes(&self, rows: u64, columns: u64, batch: u32) -> Option<usize> {
        if rows == 0 || columns == 0 || batch == 0 {
            return Some(0);
        }
        let (lines, length) = match self.order {
            Order::Row => (rows, columns),
            Order::Col => (columns, rows),
        };
        let elements = u128::from(lines - 1) * u128::from(self.ld)
            + u128::from(length)
            + u128::from(batch - 1) * u128::from(self.batch_stride);
        usize::try_from(elements.checked_mul(u128::from(self.element.bytes_of(1)))?).ok()
    }
}

/// D = alpha * A*B + beta * C, A of m x k, B of k x n, C and D of m x n.
#[derive(Clone, Debug, PartialEq)]
pub struct LtProblem {
    /// Rows of A, C and D.
    pub m: u64,
    /// Columns of B, C and D.
    pub n: u64,
    /// Columns of A, rows of B.
    pub k: u64,
    /// A.
    pub a: LtOperand,
    /// B.
    pub b: LtOperand,
    /// C; it may be D.
    pub c: LtOperand,
    /// D.
    pub d: LtOperand,
    /// Products of this shape, 1 for a plain one.
    pub batch: u32,
    /// What products are made and summed in.
    pub compute: cublasComputeType_t,
    /// The type alpha and beta are read in, usually [`scale`](super::scale) of `compute`.
    pub scale: ElementKind,
    /// Scales A*B.
    pub alpha: f64,
    /// Scales C.
    pub beta: f64,
    /// fp8 only: sums stay in the tensor core's registers instead of being promoted to f32.
    pub fast_accumulation: bool,
    /// What the addresses of A, B, C and D are multiples of, in bytes.
    pub alignment: [u32; 4],
}

/// The alignment that the heuristic counts on, in bytes, unless it is told of another (the default
/// of `CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_*`).
pub const ALIGNMENT_BYTES: u32 = 256;

/// A matrix the way the library sees it: column-major, `rows` x `columns`, `ld` elements from
/// column to column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) element: ElementKind,
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) ld: u64,
    pub(super) batch_stride: u64,
    /// The product takes its transpose.
    pub(super) transposed: bool,
    /// Its memory is row-major after all: only for a C whose order is not D's.
    pub(super) row_major: bool,
}

/// A problem with a column-major D.
///
/// A row-major D is a column-major D^T = B^T A^T: the operands exchange and nothing moves in
/// memory. This form, with transposes instead of `CUBLASLT_ORDER_ROW`, is the one that every kernel
/// of the library can be offered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnMajor {
    /// The library's first operand is our B, its second our A.
    pub(super) exchanged: bool,
    pub(super) first: Stored,
    pub(super) second: Stored,
    pub(super) c: Stored,
    pub(super) d: Stored,
}

impl LtProblem {
    pub(super) fn column_major(&self) -> ColumnMajor {
        let frame = self.d.order;
        let exchanged = frame == Order::Row;
        // Seen in D's frame an r x c matrix is itself, or its transpose; a matrix of the other
        // order needs a transpose flag.
        let operand = |x: &LtOperand, rows: u64, columns: u64| {
            let (rows, columns) =
                if x.order == Order::Col { (rows, columns) } else { (columns, rows) };
            stored(x, rows, columns, x.order != frame, false)
        };
        // C has no transpose flag: the library is told of the order and says itself whether it can.
        let result = |x: &LtOperand| {
            let (rows, columns) = if exchanged { (self.n, self.m) } else { (self.m, self.n) };
            stored(x, rows, columns, false, x.order != frame)
        };
        let a = operand(&self.a, self.m, self.k);
        let b = operand(&self.b, self.k, self.n);
        let (first, second) = if exchanged { (b, a) } else { (a, b) };
        ColumnMajor { exchanged, first, second, c: result(&self.c), d: result(&self.d) }
    }
}

fn stored(x: &LtOperand, rows: u64, columns: u64, transposed: bool, row_major: bool) -> Stored {
    Stored {
        element: x.element,
        rows,
        columns,
        ld: x.ld,
        batch_stride: x.batch_stride,
        transposed,
        row_major,
    }
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
