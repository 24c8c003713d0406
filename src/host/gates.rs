//! Gated GEMMs on the host: a copy of B with the columns of both matrices in pairs.
//!
//! The accumulators of a column of B do not depend on the place of the column, so the copy gives
//! the bits of a kernel. A tile with N columns of pairs has the N / 2 columns of D of the kernel's
//! tile.

use crate::{
    nest::GemmDesc,
    operand::{HostCall, HostSlice, UpMatrix, View},
    shape::OperandKind,
};

/// A packed k x 2n copy: column 2j is the gate of column j of D, and column 2j + 1 its partner.
pub(super) struct PairedColumns {
    bytes: Vec<u8>,
    view: View<()>,
}

impl PairedColumns {
    /// Copies the matrices of a checked call; `None` without a gate.
    pub(super) fn new(desc: &GemmDesc, call: &HostCall<'_>) -> Option<Self> {
        let (gate, up) = (&call.b, call.up.matrix()?);
        let kind = gate.memory.kind();
        let (k, n, width) = (call.k, call.n, kind.bytes_of(1) as usize);
        let matrices = if gate.batch_stride == 0 { call.batch.min(1) } else { call.batch };
        let packed = View::packed((), call.order(desc, OperandKind::B), (k, 2 * n), None);
        let packed = if gate.batch_stride == 0 { packed.batched(0) } else { packed };
        let mut bytes = vec![0; packed.elements((k, 2 * n), matrices) as usize * width];
        for (matrix, (source, partner)) in
            (0..matrices).flat_map(|matrix| [(matrix, (gate, 0)), (matrix, (up, 1))])
        {
            let elements = (0..k).flat_map(|row| (0..n).map(move |column| (row, column)));
            for (row, column) in elements {
                let from = (matrix * source.batch_stride + source.offset(row, column)) * width;
                let to = matrix * packed.batch_stride + packed.offset(row, 2 * column + partner);
                let element = &source.memory.bytes()[from..from + width];
                bytes[to * width..(to + 1) * width].copy_from_slice(element);
            }
        }
        Some(Self { bytes, view: packed })
    }

    /// Returns the call with the copy in place of both matrices.
    pub(super) fn call<'b>(&'b self, call: HostCall<'b>) -> HostCall<'b> {
        let memory = HostSlice::from_bytes(call.b.memory.kind(), &self.bytes);
        let (n, up) = (2 * call.n, UpMatrix::Paired);
        HostCall { n, b: self.view.with(memory), up, ..call }
    }
}
