//! Whether the memory of a call is on one device, and D lies apart from what is read.

use super::operands::DeviceMatrix;
use crate::{
    call::View,
    refusal::{Operand, Refusal},
};
use core::ops::Range;

/// The memory of an operand of a call that has been checked.
pub(super) struct OperandMemory<'c, 'a> {
    operand: Operand,
    view: &'c View<DeviceMatrix<'a>>,
    /// Bytes from the first that is read or written to the last; none where none is.
    bytes: Range<u64>,
    batch: usize,
}

impl<'c, 'a> OperandMemory<'c, 'a> {
    /// That of a batch of matrices.
    pub fn of(operand: Operand, view: &'c View<DeviceMatrix<'a>>, (extents, batch): ((usize, usize), usize)) -> Self {
        // A call that has been checked has fewer than 2^64 elements.
        let elements = view.elements(extents, batch) as u64;
        let bytes = if elements == 0 { 0..0 } else { view.memory.range(elements) };
        Self { operand, view, bytes, batch }
    }

    /// The operand, and its addresses.
    pub fn extent(&self) -> (Operand, Range<u64>) {
        (self.operand, self.bytes.clone())
    }

    fn meets(&self, other: &Self) -> bool {
        self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }

    /// Whether each element of one lies where that of the other does.
    fn is(&self, other: &Self) -> bool {
        let (one, two) = (self.view, other.view);
        let alike = one.strides == two.strides && (self.batch < 2 || one.batch_stride == two.batch_stride);
        one.memory.address == two.memory.address && alike
    }
}

/// Whether a call's operands are on the device of `context`, and D lies apart from what is read; the matrix that is combined with what is computed,
/// `source`, may be D.
pub(super) fn check_memory<'o, 'c: 'o, 'a: 'c>(
    context: usize,
    d: &'o OperandMemory<'c, 'a>,
    read: impl Iterator<Item = &'o OperandMemory<'c, 'a>> + Clone,
    source: Option<&'o OperandMemory<'c, 'a>>,
) -> Result<(), Refusal> {
    let mut all = read.clone().chain([d]).chain(source);
    if let Some(OperandMemory { operand, .. }) = all.find(|memory| memory.view.memory.context != context) {
        return Err(Refusal::OtherDevice { operand: *operand });
    }
    if let Some(OperandMemory { operand, .. }) = read.clone().find(|memory| memory.meets(d)) {
        return Err(Refusal::Overlap { operand: *operand });
    }
    match source.filter(|source| source.meets(d) && !source.is(d)) {
        Some(OperandMemory { operand, .. }) => Err(Refusal::PartlyShared { operand: *operand }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{OperandMemory, check_memory};
    use crate::{call::View, cuda::DeviceMatrix, layout::Order, numeric::ElementKind, operand::VectorKind, refusal::Operand};

    /// A vector's bytes are its elements', as many as D has rows or columns: D overlaps it exactly where they meet.
    #[test]
    fn a_vector_lies_apart_from_d() {
        let at = |address, context| DeviceMatrix::nowhere(ElementKind::F32, address, 1 << 20, context);
        let d = View::new(at(4096, 1), Order::Row, 6);
        let checked = |kind: VectorKind, address, context| {
            let vector = View::vector(at(address, context), kind.side());
            let of = |operand, view| OperandMemory::of(operand, view, ((10, 6), 3));
            let found = check_memory(1, &of(Operand::D, &d), [&of(Operand::Vector(kind), &vector)].into_iter(), None);
            found.map_err(|refusal| refusal.to_string())
        };
        let overlaps = |name| Err(format!("D overlaps {name}, which is read while D is written; give D memory of its own"));
        assert_eq!(
            (checked(VectorKind::BiasM, 4096 - 40, 1), checked(VectorKind::BiasM, 4096 - 36, 1)),
            (Ok(()), overlaps("bias_m"))
        );
        assert_eq!(
            (checked(VectorKind::BiasN, 4096 - 24, 1), checked(VectorKind::BiasN, 4096 - 20, 1)),
            (Ok(()), overlaps("bias_n"))
        );
        assert_eq!(checked(VectorKind::BiasN, 1 << 20, 2), Err("bias_n lies on another device than D".to_owned()));
    }
}
