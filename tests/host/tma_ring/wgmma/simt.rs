//! Knobs of `wgmma` kernels that SIMT kernels do not have.

use crate::harness::{descriptions::tma_ring, prelude::*};

#[test]
fn knobs_of_tensor_cores_are_no_knobs_of_cuda_cores() {
    let knobs = [("a_operand", "registers"), ("emulation", "bf16x6"), ("promotion", "stage")];
    for (arch, (name, value)) in
        [ArchKind::Sm80, ArchKind::Sm90].into_iter().flat_map(|arch| knobs.map(|knob| (arch, knob)))
    {
        let op = Some(OpKind::Simt);
        let request = Request { op, ..request(["f32:row"; 3], &[(name, value)]) };
        let wanted = format!("{name} is not a knob of CUDA-core kernels; try op = tensorop");
        assert_eq!(request.resolve(arch).message(), wanted);
    }
    let request = request(["f32:row"; 3], &[("a_operand", "registers")]);
    let says = request.resolve(ArchKind::Sm80).message();
    assert_eq!(says, "a_operand is not a knob of CUDA-core kernels; try op = tensorop");
}

/// SIMT kernels, with and without TMA, cannot store columns.
#[test]
fn kernels_that_cannot_store_columns_are_unchanged() {
    let (row, col) = (Order::Row, Order::Col);
    let f32s = element_types(ElementKind::F32, ElementKind::F32, ElementKind::F32);
    let threads = ((128, 128, 16), (64, 32), (8, 8));
    for desc in [
        default_of(OpKind::Simt, ArchKind::Sm90, f32s, [row; 3]),
        tma_ring::simt::plain([col, row, row], threads.0, threads.1, threads.2),
    ] {
        assert_eq!(desc.with_rows_as_columns(), desc);
    }
}
