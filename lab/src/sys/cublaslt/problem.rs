//! A GEMM as a cuBLASLt problem, and its column-major form.

use cudarc::cublaslt::sys::{cublasComputeType_t, cublasLtEpilogue_t::*};
use falchion::{layout::Order, numeric::ElementKind};

/// A matrix in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LtOperand {
    /// Element type.
    pub element: ElementKind,
    /// Order in memory.
    pub order: Order,
    /// Elements from one row (of a row-major matrix) or column to the next.
    pub ld: u64,
    /// Elements from one matrix of the batch to the next.
    pub batch_stride: u64,
}

impl LtOperand {
    /// Returns the bytes that `batch` matrices of `rows` x `columns` span; `None` beyond the
    /// address space.
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

/// The problem D = alpha * A*B + beta * C. A is m x k, B is k x n, and C and D are m x n.
#[derive(Clone, Debug, PartialEq)]
pub struct LtProblem {
    /// Rows of A, C, and D.
    pub m: u64,
    /// Columns of B, C, and D.
    pub n: u64,
    /// Columns of A, and rows of B.
    pub k: u64,
    /// A.
    pub a: LtOperand,
    /// B.
    pub b: LtOperand,
    /// C, which may be D.
    pub c: LtOperand,
    /// D.
    pub d: LtOperand,
    /// Batch size, or 1.
    pub batch: u32,
    /// The compute type.
    pub compute: cublasComputeType_t,
    /// The type of alpha and beta, usually [`scale`](super::scale) of `compute`.
    pub scale: ElementKind,
    /// Factor of A*B.
    pub alpha: f64,
    /// Factor of C.
    pub beta: f64,
    /// For fp8 only: sums stay in the tensor core's registers and are not promoted to f32.
    pub fast_accumulation: bool,
    /// The epilogue.
    pub epilogue: LtEpilogue,
    /// Alignments of A, B, C, and D in bytes.
    pub alignment: [u32; 4],
}

/// An epilogue of the library. GELU is the approximation with tanh. A bias has D's type, and one
/// value per row of the column-major form of D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LtEpilogue {
    /// `alpha * A*B + beta * C`.
    #[default]
    Default,
    /// ReLU.
    Relu,
    /// GELU.
    Gelu,
    /// A bias.
    Bias,
    /// ReLU of the sum with a bias.
    ReluBias,
    /// GELU of the sum with a bias.
    GeluBias,
}

impl LtEpilogue {
    /// Returns whether the epilogue reads a bias.
    #[must_use]
    pub fn has_bias(self) -> bool {
        matches!(self, Self::Bias | Self::ReluBias | Self::GeluBias)
    }

    pub(super) fn code(self) -> u32 {
        (match self {
            Self::Default => CUBLASLT_EPILOGUE_DEFAULT,
            Self::Relu => CUBLASLT_EPILOGUE_RELU,
            Self::Gelu => CUBLASLT_EPILOGUE_GELU,
            Self::Bias => CUBLASLT_EPILOGUE_BIAS,
            Self::ReluBias => CUBLASLT_EPILOGUE_RELU_BIAS,
            Self::GeluBias => CUBLASLT_EPILOGUE_GELU_BIAS,
        }) as u32
    }
}

/// The alignment that the heuristic assumes by default, in bytes (the default of
/// `CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_*`).
pub const ALIGNMENT_BYTES: u32 = 256;

/// A matrix in the library's form: column-major, `rows` x `columns`, with `ld` elements from one
/// column to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) element: ElementKind,
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) ld: u64,
    pub(super) batch_stride: u64,
    /// Whether the GEMM uses the transpose of the matrix.
    pub(super) transposed: bool,
    /// Whether the memory is row-major. This is only possible for a C whose order differs from D's.
    pub(super) row_major: bool,
}

/// A problem with a column-major D.
///
/// A row-major D is a column-major D^T = B^T A^T, so the operands are swapped and no data move.
/// Every kernel of the library supports this form with transposes, instead of `CUBLASLT_ORDER_ROW`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnMajor {
    /// Whether the library's first operand is B and its second operand is A.
    pub(super) swapped: bool,
    pub(super) first: Stored,
    pub(super) second: Stored,
    pub(super) c: Stored,
    pub(super) d: Stored,
}

impl LtProblem {
    pub(super) fn column_major(&self) -> ColumnMajor {
        let frame = self.d.order;
        let swapped = frame == Order::Row;
        // In D's frame, a matrix with D's order is used as it is. A matrix of the other order needs
        // a transpose flag.
        let operand = |x: &LtOperand, rows: u64, columns: u64| {
            let (rows, columns) =
                if x.order == Order::Col { (rows, columns) } else { (columns, rows) };
            stored(x, rows, columns, x.order != frame, false)
        };
        // C has no transpose flag. The library gets the order, and reports whether it supports it.
        let result = |x: &LtOperand| {
            let (rows, columns) = if swapped { (self.n, self.m) } else { (self.m, self.n) };
            stored(x, rows, columns, false, x.order != frame)
        };
        let a = operand(&self.a, self.m, self.k);
        let b = operand(&self.b, self.k, self.n);
        let (first, second) = if swapped { (b, a) } else { (a, b) };
        ColumnMajor { swapped, first, second, c: result(&self.c), d: result(&self.d) }
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
