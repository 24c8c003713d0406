//! Calls in host memory, and the calls of their parts.

use crate::{
    operand::{Call, HostSlice, HostSliceMut, Indices, Matrices, UpMatrix, View},
    refusal::{Field, Refusal, rules::within},
};
use core::ops::Range;

/// Matrices in host memory with element types as values.
pub type HostMatrices<'a> = Matrices<HostSlice<'a>, HostSliceMut<'a>>;

/// Call on matrices in host memory.
pub type HostCall<'a> = Call<HostSlice<'a>, HostSliceMut<'a>>;

/// Returns matrix `number` of a batch from element `at` on. If that is beyond the memory, the
/// result is empty. Only matrices that the call does not read, and that are therefore unchecked,
/// may be too short.
pub(super) fn read<'b>(
    view: &View<HostSlice<'b>>,
    number: usize,
    at: (usize, usize),
) -> View<HostSlice<'b>> {
    let (kind, [down, across]) = (view.memory.kind(), view.strides);
    // The host copies matrices with splits before it takes parts of them.
    let element = at.0.saturating_mul(down).saturating_add(at.1.saturating_mul(across));
    let first = view.first_byte(kind, number).saturating_add(kind.matrix_bytes(element as u64));
    view.with(view.memory.after_bytes(first as usize))
}

impl<'a> HostCall<'a> {
    /// Returns A and B of one GEMM of a checked batch, with the lifetime of the operands.
    pub fn factors(&self, number: usize) -> [HostSlice<'a>; 2] {
        [&self.a, &self.b].map(|view| read(view, number, (0, 0)).memory)
    }
}

impl HostCall<'_> {
    /// Returns the GEMMs of a batch with consecutive Ds as the calls of an array. Returns no calls
    /// if the Ds have no element.
    ///
    /// # Errors
    /// [`Refusal`] if the batch has no GEMM, or too many.
    pub fn each(self) -> Result<Vec<Self>, Refusal> {
        within(Field::Products, self.batch as u64, 1, i32::MAX as u64)?;
        let Self { m, n, k, batch, ref a, ref b, ref c, operands, scalars, .. } = self;
        let (d, mut calls) = (self.d.with(()), Vec::new());
        let HostSliceMut { kind, mut bytes } = self.d.memory;
        for number in 0..if m == 0 || n == 0 { 0 } else { batch } {
            let apart = if number + 1 == batch {
                bytes.len()
            } else {
                (d.first_byte(kind, 1) as usize).min(bytes.len())
            };
            let (own, behind) = core::mem::take(&mut bytes).split_at_mut(apart);
            bytes = behind;
            let (a, b) = (read(a, number, (0, 0)), read(b, number, (0, 0)));
            let (c, d) = (
                c.as_ref().map(|c| read(c, number, (0, 0))),
                d.with(HostSliceMut { kind, bytes: own }),
            );
            calls.push(Call {
                m,
                n,
                k,
                batch: 1,
                groups: None,
                indices: Indices::NONE,
                a,
                b,
                up: UpMatrix::None,
                c,
                d,
                operands,
                scalars,
                workspace: None,
            });
        }
        Ok(calls)
    }

    /// Returns one GEMM of a checked batch. A matrix beyond its memory has no elements.
    pub(crate) fn product(&mut self, number: usize) -> HostCall<'_> {
        self.sub_space(number, [0..self.m, 0..self.n, 0..self.k])
    }

    /// Returns one GEMM of a checked batch, reduced to some rows and columns of its D, and to a
    /// range of K.
    pub(super) fn sub_space(
        &mut self,
        number: usize,
        [rows, columns, depth]: [Range<usize>; 3],
    ) -> HostCall<'_> {
        let (m, n, at) = (rows.len(), columns.len(), (rows.start, columns.start));
        let (k, scalars) = (depth.len(), self.scalars);
        let a = read(&self.a, number, (at.0, depth.start));
        let b = read(&self.b, number, (depth.start, at.1));
        let up = self.up.map(|up| read(&up, number, (depth.start, at.1)));
        let (c, operands) = (
            self.c.as_ref().map(|c| read(c, number, at)),
            self.operands.map(|_, view| read(&view, number, at)),
        );
        let (kind, d) = (self.d.memory.kind, self.d.with(()));
        let first = d.first_byte(kind, number) + kind.matrix_bytes(d.offset(at.0, at.1) as u64);
        let bytes = self.d.memory.bytes.get_mut(first as usize..).unwrap_or_default();
        let d = d.with(HostSliceMut { kind, bytes });
        let (batch, groups, indices) = (1, None, Indices::NONE);
        Call { m, n, k, batch, groups, indices, a, b, up, c, d, operands, scalars, workspace: None }
    }

    /// Writes zeros to the maxima of a checked call.
    pub(crate) fn clear_maxima(&self) {
        for (view, count) in self.maxima() {
            let bytes = view.memory.kind().matrix_bytes(count as u64);
            view.memory.shared_bytes().clear(bytes as usize);
        }
    }

    /// Returns whether each D of the batch ends before the next D begins.
    pub(crate) fn has_consecutive_outputs(&self) -> bool {
        self.d.batch_stride as u128 >= self.d.elements((self.m, self.columns_of_d()), 1)
    }

    /// Divides the batch into calls of at most `each` GEMMs. Each D must end before the next D
    /// begins.
    pub(crate) fn pieces(&mut self, each: usize) -> impl Iterator<Item = HostCall<'_>> {
        let Self { m, n, k, batch, ref a, ref b, up, ref c, operands, scalars, .. } = *self;
        let (kind, d) = (self.d.memory.kind(), self.d.with(()));
        let apart = (d.first_byte(kind, each) as usize).max(1);
        let outputs = self.d.memory.bytes_mut().chunks_mut(apart);
        // `zip` ignores memory behind the last D.
        (0..batch).step_by(each.max(1)).zip(outputs).map(move |(first, bytes)| {
            let [a, b] = [a, b].map(|view| read(view, first, (0, 0)));
            let up = up.map(|up| read(&up, first, (0, 0)));
            let c = c.as_ref().map(|c| read(c, first, (0, 0)));
            let operands = operands.map(|_, view| read(&view, first, (0, 0)));
            let (batch, d) =
                (each.min(batch - first), d.with(HostSliceMut::from_bytes(kind, bytes)));
            let (groups, indices) = (None, Indices::NONE);
            Call {
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
            }
        })
    }
}
