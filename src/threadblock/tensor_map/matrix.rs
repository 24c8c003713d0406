//! The description of a matrix, and of a batch of them.

use super::{
    SwizzleMode, TensorMapDesc,
    check::{MOST_STRIDE_BYTES, STRIDE_ALIGNMENT},
};
use crate::{
    layout::Order,
    numeric::ElementKind,
    refusal::{Field, Operand, Refusal, hold},
};

/// A matrix in global memory, or a batch of them, equal distances apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TensorMatrix {
    /// What refusals call it.
    pub operand: Operand,
    /// The elements.
    pub element: ElementKind,
    /// Which index is contiguous.
    pub order: Order,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
    /// Elements from one row to the next, or from one column to the next where columns are
    /// contiguous.
    pub leading: u64,
    /// How many matrices there are, and elements from one to the next; `None` of a matrix that is
    /// no batch.
    pub batch: Option<(u64, u64)>,
}

impl TensorMatrix {
    /// One matrix of `(rows, columns)`.
    pub const fn new(
        operand: Operand,
        element: ElementKind,
        order: Order,
        extents: (u64, u64),
        leading: u64,
    ) -> Self {
        Self { operand, element, order, rows: extents.0, columns: extents.1, leading, batch: None }
    }

    /// The description for boxes of `(rows, columns)`: two dimensions, the contiguous index first,
    /// and the batch as a third where there is one. A box lies in one matrix.
    ///
    /// # Errors
    /// [`Refusal::LeadingDimension`] below the contiguous extent, [`Refusal::TensorStride`] and
    /// [`Refusal::OutOfRange`] for strides that TMA does not have; those of
    /// [`TensorMapDesc::check`].
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
            return Err(Refusal::LeadingDimension {
                operand: self.operand,
                value,
                least,
                order: self.order,
            });
        }
        // Of one row, or one matrix, nobody asks where the next one would lie.
        let leading = hold!(match dims[1] {
            0 | 1 => Ok(self.row_bytes(dims[0])),
            _ => self.stride_bytes(Field::LeadingDimension, self.leading),
        });
        let (rank, matrices, batch_stride) = match self.batch {
            None => (2, 1, 0),
            Some((0 | 1, _)) => (3, 1, leading),
            Some((matrices, stride)) => {
                (3, matrices, hold!(self.stride_bytes(Field::BatchStride, stride)))
            }
        };
        let map = TensorMapDesc {
            element: self.element,
            rank,
            dims: [dims[0], dims[1], matrices, 1, 1],
            strides_bytes: [leading, batch_stride, 0, 0],
            box_dims: [box_dims[0], box_dims[1], 1, 1, 1],
            swizzle,
        };
        hold!(map.check());
        Ok(map)
    }

    /// Bytes of so many elements, made whole for a stride.
    const fn row_bytes(&self, elements: u64) -> u64 {
        let bytes = self.element.matrix_bytes(elements);
        if bytes > MOST_STRIDE_BYTES {
            MOST_STRIDE_BYTES
        } else {
            bytes.next_multiple_of(STRIDE_ALIGNMENT)
        }
    }

    /// So many elements in bytes, if that is a stride.
    const fn stride_bytes(&self, field: Field, elements: u64) -> Result<u64, Refusal> {
        let most = self.element.matrix_elements(MOST_STRIDE_BYTES);
        if elements > most {
            return Err(Refusal::OutOfRange { field, value: elements, least: 0, most });
        }
        let of = self.element.matrix_elements(STRIDE_ALIGNMENT);
        if !elements.is_multiple_of(of) {
            // `most` is a multiple, so the next one above is not beyond it.
            let nearest = (elements / of + 1) * of;
            return Err(Refusal::TensorStride {
                operand: self.operand,
                field,
                value: elements,
                of,
                nearest,
            });
        }
        Ok(self.element.matrix_bytes(elements))
    }
}
