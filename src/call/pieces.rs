//! Pieces of a batch in host memory.

use super::{Call, HostCall, HostSliceMut, space::read};

impl HostCall<'_> {
    /// Returns whether each D of the batch ends before the next D begins.
    pub(crate) fn has_consecutive_outputs(&self) -> bool {
        self.d.batch_stride as u128 >= self.d.elements((self.m, self.n), 1)
    }

    /// Divides the batch into calls of at most `each` GEMMs. Each D must end before the next D
    /// begins.
    pub(crate) fn pieces(&mut self, each: usize) -> impl Iterator<Item = HostCall<'_>> {
        let Self { m, n, k, batch, ref a, ref b, ref c, operands, scalars, .. } = *self;
        let (kind, d) = (self.d.memory.kind(), self.d.with(()));
        let apart = (d.first_byte(kind, each) as usize).max(1);
        let outputs = self.d.memory.bytes_mut().chunks_mut(apart);
        // `zip` ignores memory behind the last D.
        (0..batch).step_by(each.max(1)).zip(outputs).map(move |(first, bytes)| {
            let [a, b] = [a, b].map(|view| read(view, first, (0, 0)));
            let c = c.as_ref().map(|c| read(c, first, (0, 0)));
            let operands = operands.map(|_, view| read(&view, first, (0, 0)));
            let (batch, d) =
                (each.min(batch - first), d.with(HostSliceMut::from_bytes(kind, bytes)));
            Call { m, n, k, batch, groups: None, a, b, c, d, operands, scalars, workspace: None }
        })
    }
}
