//! Lists of numbers of a call.

use crate::{device::Space, numeric::ElementKind, operand::ListReader};

/// A list of unsigned 32-bit numbers: the group offsets of a grouped GEMM, or an index list.
pub(crate) enum NumberList<'a, S: Space> {
    /// Numbers in the memory of the operands.
    InSpace(S::Ref<'a, u32>),
    /// Numbers in the memory of the operands. The call checks them before it enqueues work.
    Checked(S::Ref<'a, u32>),
    /// Numbers in host memory.
    ByValue(&'a [u32]),
}

impl<'a, S: Space> NumberList<'a, S> {
    /// Returns the length of the list, and its reader.
    pub(crate) fn shape(&self) -> (usize, ListReader) {
        match self {
            Self::InSpace(numbers) => (S::length(numbers), ListReader::InPlace),
            Self::Checked(numbers) => (S::length(numbers), ListReader::Checked),
            Self::ByValue(numbers) => (numbers.len(), ListReader::ByValue),
        }
    }

    /// Returns the list for work in a queue.
    pub(crate) fn read<'q>(self, queue: &'q S::Queue) -> S::Read<'q>
    where
        'a: 'q,
    {
        match self {
            Self::InSpace(numbers) | Self::Checked(numbers) => {
                S::read(ElementKind::I32, numbers, queue)
            }
            Self::ByValue(numbers) => S::by_value(numbers, queue),
        }
    }
}
