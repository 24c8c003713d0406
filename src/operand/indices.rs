//! Index lists of a call. A list selects the rows of A, the columns of B, or the rows of D.

use crate::{
    codegen::IndexParams,
    layout::Order,
    nest::{Addressing, GemmDesc},
    operand::{Call, Elements, HostCall, LARGEST, ListReader, Memory, Problem, View},
    refusal::{Because, Field, IndexEntry, Operand, Refusal, rules::within},
    shape::{Axis, OperandKind},
    threadblock::tensor_map::ADDRESS_ALIGNMENT,
};
use std::collections::HashMap;

/// The index list of one matrix. Line `i` of the GEMM is line `list[i]` of the matrix that the call
/// passes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IndexList<R> {
    /// Unsigned 32-bit numbers, at least one per line of the GEMM, as a column vector.
    pub list: View<R>,
    /// Reader of the list.
    pub read: ListReader,
    /// Number of lines of the matrix that the call passes.
    pub extent: usize,
}

/// The index lists of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Indices<R> {
    /// Lists of the rows of A, and of the columns of B.
    pub operands: [Option<IndexList<R>>; 2],
    /// List of the lines of D along an axis. The epilogue reads C and auxiliary matrices at the
    /// same lines.
    pub output: Option<(Axis, IndexList<R>)>,
}

impl<R> IndexList<R> {
    /// Creates a list for a matrix of `extent` lines.
    pub const fn new(list: R, extent: usize) -> Self {
        Self { list: View::vector(list, OperandKind::A), read: ListReader::InPlace, extent }
    }

    /// Returns the list with numbers in other memory.
    pub fn with<S>(&self, list: S) -> IndexList<S> {
        IndexList { list: self.list.with(list), read: self.read, extent: self.extent }
    }
}

impl<R: Memory> IndexList<R> {
    fn without_data(&self) -> IndexList<Elements> {
        let (list, read) = (self.list.without_data(), self.read.for_list_in(&self.list.memory));
        IndexList { list, read, extent: self.extent }
    }
}

impl<R> Indices<R> {
    /// No index list.
    pub const NONE: Self = Self { operands: [None, None], output: None };

    /// Returns whether no matrix has a list.
    pub fn is_none(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Returns the list of each matrix that has one.
    pub fn iter(&self) -> impl Iterator<Item = (Operand, &IndexList<R>)> {
        let [a, b] = &self.operands;
        let output = self.output.as_ref().map(|(_, list)| (Operand::D, list));
        let [a, b] = [(Operand::A, a), (Operand::B, b)]
            .map(|(operand, list)| list.as_ref().map(|list| (operand, list)));
        [a, b, output].into_iter().flatten()
    }

    /// Returns the lists with numbers in other memory, of A, B, and D.
    pub fn with<S>(&self, [a, b, d]: [Option<S>; 3]) -> Indices<S> {
        let [of_a, of_b] = &self.operands;
        let with = |list: &Option<IndexList<R>>, memory: Option<S>| {
            list.as_ref().zip(memory).map(|(list, memory)| list.with(memory))
        };
        let output = self.output.as_ref().zip(d);
        Indices {
            operands: [with(of_a, a), with(of_b, b)],
            output: output.map(|((axis, list), memory)| (*axis, list.with(memory))),
        }
    }

    /// Returns mutable references to the lists, in the order of [`iter`](Self::iter).
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut IndexList<R>> {
        let output = self.output.as_mut().map(|(_, list)| list);
        self.operands.iter_mut().flatten().chain(output)
    }

    pub(super) fn swapped(self) -> Self {
        let [a, b] = self.operands;
        let output = self.output.map(|(axis, list)| (axis.swapped(), list));
        Self { operands: [b, a], output }
    }
}

impl<R: Memory> Indices<R> {
    pub(super) fn without_data(&self) -> Indices<Elements> {
        Indices {
            operands: self.operands.each_ref().map(|list| Some(list.as_ref()?.without_data())),
            output: self.output.as_ref().map(|(axis, list)| (*axis, list.without_data())),
        }
    }
}

impl<R, W> Call<R, W> {
    /// Returns the addressing of the kernel for this call, in the frame of this call. `order` is
    /// the layout of D.
    pub(crate) fn addressing(&self, order: Order) -> Addressing {
        let [a, b] = &self.indices.operands;
        let extents = self.output_extents();
        let of_source = self.c.matrix().and_then(|c| c.order(order, extents));
        let split = self.d.is_split() || self.c.matrix().is_some_and(View::is_split);
        let strided = split
            || self.d.order(order, extents) != Some(order)
            || self.c.matrix().is_some() && of_source != Some(order);
        Addressing {
            gathers: [a.is_some(), b.is_some()],
            scatters: self.indices.output.as_ref().map(|(axis, _)| *axis),
            strided,
        }
    }

    /// Returns the rows and columns of operand A or B in memory.
    pub(crate) fn extents(&self, operand: OperandKind) -> (usize, usize) {
        let lines = self.indices.operands[operand.index()].as_ref();
        let lines = lines.map_or(self.mn(operand), |list| list.extent);
        match operand {
            OperandKind::A => (lines, self.k),
            OperandKind::B => (self.k, lines),
        }
    }

    /// Returns the rows and columns of D, C, and auxiliary matrices in memory.
    pub(crate) fn output_extents(&self) -> (usize, usize) {
        match &self.indices.output {
            Some((Axis::N, list)) => (self.m, list.extent),
            Some((_, list)) => (list.extent, self.n),
            None => (self.m, self.n),
        }
    }

    /// Returns the number of indices that the kernel reads from the list of a matrix.
    pub(crate) fn indices_of(&self, operand: Operand) -> usize {
        match (operand, &self.indices.output) {
            (Operand::B, _) | (Operand::D, Some((Axis::N, _))) => self.n,
            _ => self.m,
        }
    }

    /// Returns a reader that checks the index list of a matrix in sequence.
    pub(crate) fn index_reader(&self, operand: Operand, extent: usize) -> IndexReader {
        let seen = (operand == Operand::D).then(HashMap::new);
        IndexReader { operand, extent, number: 0, seen }
    }
}

impl<R: Memory, W: Memory> Call<R, W> {
    /// Checks the lengths of the index lists, the extents of their matrices, and that the kernel
    /// supports the lists.
    pub(super) fn check_indices(&self, d: &GemmDesc) -> Result<(), Refusal> {
        for (operand, list) in self.indices.iter() {
            let (length, needed) = (list.list.memory.length(), self.indices_of(operand));
            if length < needed {
                let operand = Operand::indices_of(operand);
                return Err(Refusal::too_short(operand, length, needed as u64, Because::None));
            }
            within(Field::IndicesOf(operand), list.extent as u64, 0, LARGEST as u64)?;
            if d.emulation().decomposes() && operand != Operand::D {
                return Err(Refusal::index_of_terms(operand, d.emulation()));
            }
        }
        self.check_splits(d)
    }

    /// Checks that the kernel supports the splits of the matrices. An index list already gives each
    /// line its own place.
    fn check_splits(&self, d: &GemmDesc) -> Result<(), Refusal> {
        for kind in OperandKind::BOTH {
            let (view, operand) = (self.operand(kind), Operand::from_kind(kind));
            let lines = view.splits[if kind == OperandKind::A { 0 } else { 1 }];
            if lines.is_some() && self.indices.operands[kind.index()].is_some() {
                return Err(Refusal::split_of_index(operand));
            }
            if view.is_split() && d.emulation().decomposes() {
                return Err(Refusal::split_of_others(operand, d.emulation().name()));
            }
        }
        let scattered = match &self.indices.output {
            Some((Axis::N, _)) => self.d.splits[1].is_some(),
            Some(_) => self.d.splits[0].is_some(),
            None => false,
        };
        if scattered {
            return Err(Refusal::split_of_index(Operand::D));
        }
        match self.operands.iter().find(|(_, view)| view.is_split()) {
            Some((name, _)) => {
                let operand = Operand::Epilogue(name);
                Err(Refusal::split_of_others(operand, "an operand of the epilogue"))
            }
            None => Ok(()),
        }
    }
}

impl Problem {
    /// Returns whether the producer of a TMA ring gathers the lines of an operand in place. The
    /// problem is in the kernel's frame. A thread copies chunks of 16 bytes, each of which lies
    /// within a line.
    pub(crate) fn producer_gathers(&self, desc: &GemmDesc, operand: OperandKind) -> bool {
        let (view, stored) = (self.operand(operand), desc.operand(operand).stored);
        let order = Order::for_operand(operand, true);
        let [pitch, line, next] =
            [view.leading(order) as u64, self.k as u64, self.batch_stride(view)]
                .map(|elements| stored.matrix_bytes(elements));
        let aligned = (view.memory.address | pitch | line | next).is_multiple_of(ADDRESS_ALIGNMENT);
        self.indices.operands[operand.index()].is_some()
            && !view.is_split()
            && self.order(desc, operand) == order
            && aligned
            // A kernel multiplies an index and a pitch of 32 bits each.
            && pitch <= u64::from(u32::MAX)
            && desc.has_producer()
            && desc.in_mode(self.mode()).gathers(operand)
    }

    /// Returns the parameters of the index lists of A, B, and D.
    pub(crate) fn index_params(&self) -> [IndexParams; 3] {
        let [a, b] = self.indices.operands;
        let params = |list: IndexList<Elements>| IndexParams {
            address: list.list.memory.address,
            extent: list.extent as u32,
            reserved: 0,
        };
        [a, b, self.indices.output.map(|(_, list)| list)]
            .map(|list| list.map_or(IndexParams::NONE, params))
    }
}

/// Checked reader of an index list.
pub(crate) struct IndexReader {
    operand: Operand,
    /// Number of lines of the matrix.
    extent: usize,
    /// Number of the next index.
    number: u32,
    /// The number of each index of D so far.
    seen: Option<HashMap<u32, u32>>,
}

impl IndexReader {
    /// Returns the next index.
    ///
    /// # Errors
    /// [`Refusal`] if the index is beyond the matrix, or repeats an index of D.
    pub fn next(&mut self, index: u32) -> Result<usize, Refusal> {
        let entry = IndexEntry { operand: self.operand, number: self.number };
        let most = self.extent.saturating_sub(1) as u64;
        if index as usize >= self.extent {
            return Err(Refusal::out_of_range(Field::Index(entry), index.into(), 0, most));
        }
        if let Some(first) = self.seen.as_mut().and_then(|seen| seen.insert(index, self.number)) {
            return Err(Refusal::repeated_index(entry, index, first));
        }
        self.number += 1;
        Ok(index as usize)
    }
}

/// The checked index lists of A, B, and D in host memory.
pub(crate) type HostIndices = [Option<Vec<usize>>; 3];

impl HostCall<'_> {
    /// Returns the indices of A, B, and D that the kernel reads.
    ///
    /// # Errors
    /// [`Refusal`] for the first index that is beyond its matrix, or repeats an index of D.
    pub(crate) fn host_indices(&self) -> Result<HostIndices, Refusal> {
        let mut all = HostIndices::default();
        for (operand, list) in self.indices.iter() {
            let mut reader = self.index_reader(operand, list.extent);
            let (words, _) = list.list.memory.bytes().as_chunks::<4>();
            let words = words.iter().take(self.indices_of(operand));
            let indices = words.map(|word| reader.next(u32::from_ne_bytes(*word)));
            let place = match operand {
                Operand::A => 0,
                Operand::B => 1,
                _ => 2,
            };
            all[place] = Some(indices.collect::<Result<_, _>>()?);
        }
        Ok(all)
    }
}

/// Returns the number of lines that memory of `length` elements holds. A line has `across`
/// elements. Without strides, the matrix is packed, so its leading dimension follows from its
/// lines. `strides` are the elements between lines, and within a line.
pub(crate) fn lines_held(length: usize, across: usize, strides: Option<[usize; 2]>) -> usize {
    let Some([between, within]) = strides else { return length.checked_div(across).unwrap_or(0) };
    let last_line = (across.saturating_sub(1)).saturating_mul(within).saturating_add(1);
    if length < last_line {
        return 0;
    }
    let held = (length - last_line).checked_div(between).map_or(usize::MAX, |lines| lines + 1);
    // Lines that are side by side within a leading dimension end with it.
    if within > between && across > 1 { held.min(within / between.max(1)) } else { held }
}

/// Returns the strides of a matrix between its lines, and within a line, if the call sets its
/// leading dimension. Lines along the order of the matrix are contiguous.
pub(crate) const fn line_strides(lines: Axis, order: Order, leading: usize) -> [usize; 2] {
    let contiguous = order.is_row() == matches!(lines, Axis::M);
    if contiguous { [leading, 1] } else { [1, leading] }
}
