//! Groups along K whose first k lies within a vector of a contiguous operand.
//!
//! A kernel that reads vectors along K begins the k-tiles of a group at the vector of the group's
//! first k. The elements of the vector before the group count as zeros. The host multiplies copies
//! of A and B with these zeros, so that each instruction adds the same products as on a device.

use crate::{
    layout::Order,
    nest::GemmDesc,
    operand::{Group, HostCall, HostSlice, View},
    shape::{Axis, OperandKind},
    threadblock::GroupRange,
};
use core::ops::Range;

/// A and B of one group with zeros before the first k, packed.
pub(super) struct PaddedDepth {
    /// K of the group, including the zeros.
    k: usize,
    a: PackedMatrix,
    b: PackedMatrix,
}

/// Packed copy of a matrix: its bytes, order, and extents.
struct PackedMatrix {
    bytes: Vec<u8>,
    order: Order,
    extents: (usize, usize),
}

impl PackedMatrix {
    /// Copies the elements of an operand whose k is in `depth`, after `zeros` zeros along K.
    fn new(
        (view, operand, order): (&View<HostSlice<'_>>, OperandKind, Order),
        mn: usize,
        depth: Range<usize>,
        zeros: usize,
    ) -> Self {
        let (kind, all) = (view.memory.kind(), zeros + depth.len());
        let width = kind.bytes_of(1) as usize;
        let extents = if operand == OperandKind::A { (mn, all) } else { (all, mn) };
        let packed = View::packed((), order, extents, None);
        let mut bytes = vec![0; packed.elements(extents, 1) as usize * width];
        for (line, k) in (0..mn).flat_map(|line| depth.clone().map(move |k| (line, k))) {
            let place = |k| if operand == OperandKind::A { (line, k) } else { (k, line) };
            let (from, to) = (place(k), place(k - depth.start + zeros));
            let [from, to] =
                [view.offset(from.0, from.1), packed.offset(to.0, to.1)].map(|at| at * width);
            bytes[to..to + width].copy_from_slice(&view.memory.bytes()[from..from + width]);
        }
        Self { bytes, order, extents }
    }

    /// Returns the copy as an operand with the element type of `view`.
    fn view(&self, view: &View<HostSlice<'_>>) -> View<HostSlice<'_>> {
        let memory = HostSlice::from_bytes(view.memory.kind(), &self.bytes);
        View::packed(memory, self.order, self.extents, None)
    }
}

impl PaddedDepth {
    /// Returns the operands of a group of a checked call. `None` for groups of D, for an empty
    /// group, and if the group begins at a multiple of `step`.
    pub(super) fn new(
        desc: &GemmDesc,
        call: &HostCall<'_>,
        (_, depth): &Group,
        step: u32,
    ) -> Option<Self> {
        let range = GroupRange {
            first: depth.start as u32,
            limit: depth.end as u32,
            step,
            tile_k: desc.threadblock().k,
        };
        let zeros = (range.first - range.begin()) as usize;
        if call.mode().groups() != Some(Axis::K) || zeros == 0 || depth.is_empty() || call.k == 0 {
            return None;
        }
        let copy = |operand: OperandKind| {
            let source = (call.operand(operand), operand, call.order(desc, operand));
            PackedMatrix::new(source, call.mn(operand), depth.clone(), zeros)
        };
        let (a, b) = (copy(OperandKind::A), copy(OperandKind::B));
        Some(Self { k: zeros + depth.len(), a, b })
    }

    /// Returns the call of the group with these operands.
    pub(super) fn call<'b>(&'b self, group: HostCall<'b>) -> HostCall<'b> {
        let (a, b) = (self.a.view(&group.a), self.b.view(&group.b));
        HostCall { k: self.k, a, b, ..group }
    }
}
