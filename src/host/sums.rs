//! Sums of rows and of columns on the host.
//!
//! The executor stores the values of a sum to a matrix of D's extents, as it stores an auxiliary
//! matrix. After the call, it adds them in the order of the kernel.

use super::parallel::parallel_pieces;
use crate::{
    Error,
    epilogue::sums::SumOrder,
    layout::Order,
    nest::GemmDesc,
    numeric::ElementKind,
    operand::{HostCall, HostSlice, View},
    refusal::{Because, Operand, Refusal},
    shape::{EpilogueOperand, OperandKind},
    sys::shared_bytes::SharedBytes,
};
use bytemuck::Pod;
use core::ops::Add;

/// Runs `run` with a matrix in place of each sum of a checked call, and then writes the sums.
/// `kernel` determines the order of the additions. The call is in the frame of `desc`.
///
/// # Errors
/// The errors of `run`. [`Error::Refused`] if there is no memory for the values of a sum.
pub(super) fn with_sums(
    [kernel, desc]: [&GemmDesc; 2],
    call: HostCall<'_>,
    run: impl FnOnce(HostCall<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    if !desc.epilogue.has_sums() {
        return run(call);
    }
    let (extents, products) = ((call.m, call.n), call.outputs());
    let shared = products < call.batch;
    let sums = call.operands.filter_map(|operand, view| operand.is_sum().then_some(view));
    let mut values = sums.as_ref().try_map(|operand, view| {
        let each = extents.0.saturating_mul(extents.1);
        let count = each.saturating_mul(products) as u64;
        zeros(operand, view.memory.kind().matrix_bytes(count))
    })?;
    let mut call = call;
    for (operand, bytes) in values.iter_mut() {
        let view = call.operands.slot(operand);
        *view = view.as_ref().map(|view| {
            let memory = HostSlice::shared(view.memory.kind(), SharedBytes::new(bytes));
            let packed = View::packed(memory, Order::Row, extents, None);
            packed.batched(if shared { 0 } else { extents.0 * extents.1 })
        });
    }
    run(call)?;
    for (operand, view) in sums.iter() {
        let bytes = values.get(operand).map(Vec::as_slice).unwrap_or_default();
        let of_kernel =
            if kernel.frame.swapped == desc.frame.swapped { operand } else { operand.swapped() };
        let order = SumOrder::new(kernel, summed_axis(of_kernel));
        let values = SumValues { operand, bytes, extents, products };
        match view.memory.kind() {
            ElementKind::F64 => values.add(&order, view, f64::mul_add),
            _ => values.add(&order, view, f32::mul_add),
        }
    }
    Ok(())
}

/// Returns the axis along which a sum adds, as the operand with this axis.
fn summed_axis(sum: EpilogueOperand) -> OperandKind {
    match sum.side() {
        Some(OperandKind::A) => OperandKind::B,
        _ => OperandKind::A,
    }
}

/// Returns zeros for the values of a sum.
fn zeros(operand: EpilogueOperand, length: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let refused = Refusal::overflow(
        Operand::Epilogue(operand),
        Because::Words("the host keeps the values of a sum"),
    );
    bytes.try_reserve_exact(length).map_err(|_| refused)?;
    bytes.resize(length, 0);
    Ok(bytes)
}

/// The values of one sum: a packed row-major matrix per GEMM.
struct SumValues<'a> {
    operand: EpilogueOperand,
    bytes: &'a [u8],
    extents: (usize, usize),
    products: usize,
}

impl SumValues<'_> {
    /// Adds the values of each line, and writes the sums. `fused(x, y, z)` is `x * y + z`.
    fn add<E: Pod + Default + Send + Sync + Add<Output = E>>(
        &self,
        order: &SumOrder,
        view: &View<HostSlice<'_>>,
        fused: fn(E, E, E) -> E,
    ) {
        let (m, n) = self.extents;
        let squares = self.operand.sums_squares();
        let add = |sum: E, x: E| if squares { fused(x, x, sum) } else { sum + x };
        let along_rows = self.operand.side() == Some(OperandKind::A);
        let (lines, extent) = if along_rows { (m, n) } else { (n, m) };
        let (width, to) = (size_of::<E>(), view.memory.shared_bytes());
        let mut sums = vec![E::default(); lines * self.products];
        parallel_pieces(&mut sums, 16, |piece, sums| {
            for (i, sum) in sums.iter_mut().enumerate() {
                let (product, line) = ((16 * piece + i) / lines, (16 * piece + i) % lines);
                let value = |place: usize| {
                    let at = if along_rows { line * n + place } else { place * n + line };
                    let first = (product * m * n + at) * width;
                    bytemuck::pod_read_unaligned(&self.bytes[first..first + width])
                };
                *sum = order.sum(extent, value, add);
            }
        });
        for (i, sum) in sums.iter().enumerate() {
            let place = i / lines * view.batch_stride + i % lines;
            to.write(place * width, bytemuck::bytes_of(sum));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chains, the pairs of lanes, and the parts add in the documented order.
    #[test]
    fn sums_add_chains_then_lanes_then_parts() {
        let parts = vec![vec![vec![vec![0, 2], vec![1, 3]]]];
        let order = SumOrder { tile: 4, parts };
        let values = [1.0e8f32, 1.0, -1.0e8, 0.5, 3.0, 1.0e-3];
        let wanted = ((1.0e8f32 + -1.0e8) + (1.0 + 0.5)) + (3.0 + 1.0e-3);
        assert_eq!(order.sum(6, |i| values[i], |sum, x| sum + x), wanted);
        assert_eq!(order.parts(6), 2);
    }

    /// A part adds the chains that lanes joined, one after another.
    #[test]
    fn sums_add_joined_chains_in_order() {
        let joined = |line: u32| vec![vec![line], vec![line + 1]];
        let order = SumOrder { tile: 6, parts: vec![vec![joined(0), joined(2), joined(4)]] };
        let values = [1.0f32, 1.0e8, 1.0, 3.0, -1.0e8, 0.25];
        let wanted = ((1.0f32 + 1.0e8) + (1.0 + 3.0)) + (-1.0e8 + 0.25);
        assert_eq!(order.sum(6, |i| values[i], |sum, x| sum + x), wanted);
    }

    /// Eight threads add the parts of a line, each every eighth part, and then their sums in pairs.
    #[test]
    fn sums_add_every_eighth_part() {
        let order = SumOrder { tile: 2, parts: vec![vec![vec![vec![0]]], vec![vec![vec![1]]]] };
        let values: Vec<_> = (0..11).map(|i| [1.0e8f32, 1.0, -1.0e8, 3.0][i % 4]).collect();
        let chain = |i: usize| values[i] + values.get(i + 8).copied().unwrap_or_default();
        let pair = |i: usize| chain(i) + chain(i + 1);
        let wanted = (pair(0) + pair(2)) + (pair(4) + pair(6));
        assert_eq!(order.sum(11, |i| values[i], |sum, x| sum + x), wanted);
        assert_eq!(order.parts(11), 12);
    }
}
