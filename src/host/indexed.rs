//! Index lists, strides, and splits on the host: plain copies of the matrices, and a D whose
//! elements are copied back.
//!
//! The arithmetic of an element of D does not depend on the place of its operands, so the copies
//! give the bits of a kernel that reads through the lists.

use super::gates::PairedColumns;
use crate::{
    Error,
    layout::Order,
    nest::GemmDesc,
    numeric::ElementKind,
    operand::{HostCall, HostIndices, HostSlice, HostSliceMut, Indices, Source, View},
    shape::{Axis, EpilogueOperands, OperandKind},
};

/// Selected lines of a matrix: row `i` of the copy is row `rows[i]` of the matrix, and column `j`
/// is column `columns[j]`.
struct SelectedLines {
    rows: Vec<usize>,
    columns: Vec<usize>,
}

/// A packed copy of the matrices of a batch.
struct Copied {
    kind: ElementKind,
    bytes: Vec<u8>,
    view: View<()>,
}

impl SelectedLines {
    fn new(
        (rows, columns): (usize, usize),
        [of_rows, of_columns]: [Option<&Vec<usize>>; 2],
    ) -> Self {
        let all = |count: usize, list: Option<&Vec<usize>>| {
            list.map_or_else(|| (0..count).collect(), |list| list[..count].to_vec())
        };
        Self { rows: all(rows, of_rows), columns: all(columns, of_columns) }
    }

    /// Calls `visit` with the first byte of each element, in the matrix and in the packed copy.
    fn each<V>(
        &self,
        (kind, matrices): (ElementKind, usize),
        [view, copy]: [&View<V>; 2],
        mut visit: impl FnMut(usize, usize),
    ) {
        let byte = |element: usize| kind.matrix_bytes(element as u64) as usize;
        for matrix in 0..matrices {
            for (i, &row) in self.rows.iter().enumerate() {
                for (j, &column) in self.columns.iter().enumerate() {
                    let element = matrix * view.batch_stride + view.offset(row, column);
                    let copied = matrix * copy.batch_stride + copy.offset(i, j);
                    visit(byte(element), byte(copied));
                }
            }
        }
    }

    /// Copies the matrices of a batch, packed in an order.
    fn copy(
        &self,
        view: &View<()>,
        (kind, bytes): (ElementKind, &[u8]),
        (order, batch): (Order, usize),
    ) -> Copied {
        let extents = (self.rows.len(), self.columns.len());
        let matrices = if view.batch_stride == 0 { batch.min(1) } else { batch };
        let packed = View::packed((), order, extents, None);
        let packed = if view.batch_stride == 0 { packed.batched(0) } else { packed };
        let width = kind.bytes_of(1) as usize;
        let mut copied = vec![0; packed.elements(extents, matrices) as usize * width];
        self.each((kind, matrices), [view, &packed], |from, to| {
            // Only an operand that the kernel does not read is too short.
            if let Some(element) = bytes.get(from..from + width) {
                copied[to..to + width].copy_from_slice(element);
            }
        });
        Copied { kind, bytes: copied, view: packed }
    }
}

impl Copied {
    fn slice(&self) -> View<HostSlice<'_>> {
        self.view.with(HostSlice::from_bytes(self.kind, &self.bytes))
    }

    /// Returns the copy as a result of the epilogue.
    fn shared(&mut self) -> View<HostSlice<'_>> {
        self.view.with(HostSliceMut::from_bytes(self.kind, &mut self.bytes).into_shared())
    }
}

/// Runs `run` with the call on plain matrices. The call has entered the frame of `desc`.
///
/// # Errors
/// The errors of `run`, after which D has its old values.
pub(super) fn with_plain_matrices(
    desc: &GemmDesc,
    call: HostCall<'_>,
    lists: &HostIndices,
    run: impl FnOnce(HostCall<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let [of_a, of_b, of_d] = lists.each_ref().map(Option::as_ref);
    let strided = call.addressing(desc.frame.d_order()).strided;
    let splits = OperandKind::BOTH.iter().any(|operand| call.operand(*operand).is_split());
    let gated = call.up.matrix().is_some();
    if [of_a, of_b, of_d] == [None; 3] && !strided && !splits && !gated {
        return run(call);
    }
    let HostCall { m, n, k, batch, .. } = call;
    let outputs = call.outputs();
    let paired = PairedColumns::new(desc, &call);
    let copy = |operand: OperandKind, extents, lists: [Option<&Vec<usize>>; 2]| {
        let view = call.operand(operand);
        (view.is_split() || lists.iter().any(Option::is_some)).then(|| {
            let bytes = (view.memory.kind(), view.memory.bytes());
            let order = call.order(desc, operand);
            SelectedLines::new(extents, lists).copy(&view.with(()), bytes, (order, batch))
        })
    };
    let a = copy(OperandKind::A, (m, k), [of_a, None]);
    let b = copy(OperandKind::B, (k, n), [None, of_b]);
    let plain = HostCall {
        indices: Indices::NONE,
        a: a.as_ref().map_or(call.a, Copied::slice),
        b: b.as_ref().map_or(call.b, Copied::slice),
        ..call
    };
    let plain = match &paired {
        Some(paired) => paired.call(plain),
        None => plain,
    };
    if of_d.is_none() && !strided {
        return run(plain);
    }
    let along_rows = !matches!(call.indices.output, Some((Axis::N, _)));
    let lines_of_d =
        SelectedLines::new((m, n), if along_rows { [of_d, None] } else { [None, of_d] });
    let order = desc.frame.d_order();
    let HostCall { c, d, operands, .. } = plain;
    let c = c.map(|c| {
        let bytes = (c.memory.kind(), c.memory.bytes());
        lines_of_d.copy(&c.with(()), bytes, (order, outputs))
    });
    let mut copies = operands.map(|operand, view| {
        let bytes = (view.memory.kind(), view.memory.bytes());
        (
            view,
            operand.is_matrix().then(|| lines_of_d.copy(&view.with(()), bytes, (order, outputs))),
        )
    });
    let operands: EpilogueOperands<_> = copies
        .iter_mut()
        .map(|(operand, (view, copy))| match (copy, view.memory.is_shared()) {
            (Some(copy), true) => (operand, copy.shared()),
            (Some(copy), false) => (operand, copy.slice()),
            (None, _) => (operand, *view),
        })
        .collect();
    let (kind, view) = (d.memory.kind(), d.with(()));
    let bytes = d.memory.into_bytes();
    let mut result = lines_of_d.copy(&view, (kind, bytes), (order, outputs));
    let packed = result.view;
    let memory = HostSliceMut::from_bytes(kind, &mut result.bytes);
    let c = match &c {
        Source::Matrix(c) => Source::Matrix(c.slice()),
        Source::InPlace => Source::InPlace,
        Source::None => Source::None,
    };
    let (m, n, k, scalars) = (plain.m, plain.n, plain.k, plain.scalars);
    let (indices, a, b, up) = (Indices::NONE, plain.a, plain.b, plain.up);
    let groups = plain.groups;
    let d = packed.with(memory);
    run(HostCall {
        m,
        n,
        k,
        batch,
        groups,
        indices,
        a,
        b,
        up,
        c,
        d,
        operands,
        scalars,
        workspace: None,
    })?;
    for (_, (view, copy)) in copies.iter() {
        let Some(copy) = copy.as_ref().filter(|_| view.memory.is_shared()) else { continue };
        let (width, result) = (copy.kind.bytes_of(1) as usize, view.memory.shared_bytes());
        lines_of_d.each((copy.kind, outputs), [&view.with(()), &copy.view], |to, from| {
            result.write(to, &copy.bytes[from..from + width]);
        });
    }
    let width = kind.bytes_of(1) as usize;
    lines_of_d.each((kind, outputs), [&view, &packed], |to, from| {
        if let Some(element) = bytes.get_mut(to..to + width) {
            element.copy_from_slice(&result.bytes[from..from + width]);
        }
    });
    Ok(())
}
