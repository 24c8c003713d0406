//! Lists of numbers of a call: group offsets, and index lists.

use crate::operand::{Call, Elements, Memory, Problem, View};

/// Reader of a list of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListReader {
    /// The kernel reads the list in the memory of the operands.
    InPlace,
    /// The kernel reads the list in the memory of the operands. The call first copies the list to
    /// the host, and checks it before it enqueues work.
    Checked,
    /// Kernel parameters carry the list from host memory to the workspace.
    ByValue,
}

impl ListReader {
    /// Returns the reader of a list in `memory`, which is `self` unless kernel parameters carry the
    /// list.
    pub(super) fn for_list_in(self, memory: &impl Memory) -> Self {
        if memory.by_value() { Self::ByValue } else { self }
    }
}

impl<R, W> Call<R, W> {
    /// Returns each list of the call with the count of its numbers that the kernel reads.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (&View<R>, ListReader, usize)> {
        let offsets = self.groups.as_ref();
        let offsets = offsets.map(|groups| (&groups.offsets, groups.read, self.batch + 1));
        let indices = self.indices.iter();
        let indices =
            indices.map(|(operand, list)| (&list.list, list.read, self.indices_of(operand)));
        offsets.into_iter().chain(indices)
    }

    /// Returns mutable references to the lists, in the order of [`lists`](Self::lists).
    fn lists_mut(&mut self) -> impl Iterator<Item = &mut View<R>> {
        let offsets = self.groups.as_mut().map(|groups| &mut groups.offsets);
        offsets.into_iter().chain(self.indices.iter_mut().map(|list| &mut list.list))
    }
}

/// Returns the bytes of a list that kernel parameters carry, in whole 8-byte words.
const fn carried_bytes(count: usize) -> u64 {
    (count as u64).div_ceil(2).saturating_mul(size_of::<u64>() as u64)
}

impl Problem {
    /// Returns the bytes of the lists that kernel parameters carry.
    pub(super) fn list_bytes(&self) -> u64 {
        let carried = self.lists().filter(|(_, read, _)| *read == ListReader::ByValue);
        carried.fold(0, |bytes: u64, (_, _, count)| bytes.saturating_add(carried_bytes(count)))
    }

    /// Sets the addresses of the lists that kernel parameters carry to the workspace. The lists are
    /// consecutive there.
    pub(super) fn with_lists_at(mut self, mut address: u64) -> Self {
        let readers = Vec::from_iter(self.lists().map(|(_, read, count)| (read, count)));
        for (list, (read, count)) in self.lists_mut().zip(readers) {
            if read == ListReader::ByValue {
                let Elements { address: place, .. } = &mut list.memory;
                *place = address;
                address = address.saturating_add(carried_bytes(count));
            }
        }
        self
    }
}
