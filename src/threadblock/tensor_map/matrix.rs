//! Tensor maps of a matrix, and of a batch of matrices.

use super::{
    L2PromotionKind, SwizzleMode, TensorMapDesc,
    check::{MOST_STRIDE_BYTES, STRIDE_ALIGNMENT},
};
use crate::{
    layout::Order,
    numeric::ElementKind,
    refusal::{Field, Operand, Refusal, hold},
};

/// Matrix in global memory, or a batch of matrices at equal distances.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TensorMatrix {
    /// Operand that refusals name.
    pub operand: Operand,
    /// Element type.
    pub element: ElementKind,
    /// Contiguous index.
    pub order: Order,
    /// Number of rows.
    pub rows: u64,
    /// Number of columns.
    pub columns: u64,
    /// Distance in elements between consecutive rows, or between consecutive columns of a
    /// column-major matrix.
    pub leading: u64,
    /// Number of matrices, and distance between them in elements; `None` for a single matrix.
    pub batch: Option<(u64, u64)>,
}

impl TensorMatrix {
    /// Returns a single matrix of `extents` (rows, columns).
    pub const fn new(
        operand: Operand,
        element: ElementKind,
        order: Order,
        extents: (u64, u64),
        leading: u64,
    ) -> Self {
        Self { operand, element, order, rows: extents.0, columns: extents.1, leading, batch: None }
    }

    /// Returns the tensor map for boxes of `box_extents` (rows, columns). Dimension 0 is the
    /// contiguous index, and a batch adds dimension 2. A box lies within one matrix. The L2
    /// promotion is the default.
    ///
    /// # Errors
    /// [`Refusal`] for a leading dimension below the contiguous extent. [`Refusal`] for strides
    /// that TMA does not support. The errors of [`TensorMapDesc::check`].
    pub const fn map(
        &self,
        box_extents: (u32, u32),
        swizzle: SwizzleMode,
    ) -> Result<TensorMapDesc, Refusal> {
        let (dims, box_dims) = match self.order {
            Order::Row => ([self.columns, self.rows], [box_extents.1, box_extents.0]),
            Order::Col => ([self.rows, self.columns], [box_extents.0, box_extents.1]),
        };
        if self.leading < dims[0] {
            let (value, least) = (self.leading as usize, dims[0] as usize);
            return Err(Refusal::leading_dimension(self.operand, value, least, self.order));
        }
        // A single row or a single matrix has no pitch, so any valid stride works.
        let leading = hold!(match dims[1] {
            0 | 1 => Ok(self.row_bytes(dims[0])),
            _ => self.stride_bytes(Field::LeadingDimensionOf(self.operand), self.leading),
        });
        let (rank, matrices, batch_stride) = match self.batch {
            None => (2, 1, 0),
            Some((0 | 1, _)) => (3, 1, leading),
            Some((matrices, stride)) => {
                (3, matrices, hold!(self.stride_bytes(Field::BatchStrideOf(self.operand), stride)))
            }
        };
        let map = TensorMapDesc {
            element: self.element,
            rank,
            dims: [dims[0], dims[1], matrices, 1, 1],
            strides_bytes: [leading, batch_stride, 0, 0],
            box_dims: [box_dims[0], box_dims[1], 1, 1, 1],
            swizzle,
            l2_promotion: L2PromotionKind::DEFAULT,
        };
        hold!(map.check());
        Ok(map)
    }

    /// Returns the size of `elements` elements in bytes, rounded up to a valid stride.
    const fn row_bytes(&self, elements: u64) -> u64 {
        let bytes = self.element.matrix_bytes(elements);
        if bytes > MOST_STRIDE_BYTES {
            MOST_STRIDE_BYTES
        } else {
            bytes.next_multiple_of(STRIDE_ALIGNMENT)
        }
    }

    /// Returns the size of `elements` elements in bytes if it is a valid stride.
    const fn stride_bytes(&self, field: Field, elements: u64) -> Result<u64, Refusal> {
        let most = self.element.matrix_elements(MOST_STRIDE_BYTES);
        if elements > most {
            return Err(Refusal::out_of_range(field, elements, 0, most));
        }
        let of = self.element.matrix_elements(STRIDE_ALIGNMENT);
        if !elements.is_multiple_of(of) {
            // `most` is a multiple, so the next larger multiple does not exceed it.
            let nearest = (elements / of + 1) * of;
            return Err(Refusal::tensor_stride(field, elements, of, nearest));
        }
        Ok(self.element.matrix_bytes(elements))
    }
}
