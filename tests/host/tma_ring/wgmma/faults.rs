//! Faults of warp-specialized programs on tensor cores.

use super::super::faults::find_faults;
use crate::harness::{prelude::*, tma_ring::subject::program};

/// Rings of two and three stages, clusters along M and along N, K-major and MN-major operands, and
/// stores by TMA and by threads.
fn on_tensor_cores() -> Vec<(&'static str, GemmDesc)> {
    use ElementKind::{Bf16, E4m3, F16, F32, I8, I32, Tf32};
    let of = |ab, accumulator, c, orders, block, warp, n, cluster: (u32, u32)| {
        let types = element_types(ab, accumulator, c);
        let d = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders);
        let k = ab.elements_in(128);
        let mnk = |(m, n)| Mnk::new(m, n, k);
        but!(d, threadblock: mnk(block), warp: mnk(warp), instruction: Mnk { n, ..d.instruction() }, cluster: Mn { m: cluster.0, n: cluster.1 }, schedule: ScheduleKind::Cooperative, stages: 3)
    };
    let registers =
        |d: GemmDesc| d.with(Pins { a_operand: Some(AOperandKind::Registers), ..Pins::NONE });
    let (row, col) = (Order::Row, Order::Col);
    let bf16 = of(Bf16, F32, Bf16, [row, col, row], (128, 64), (64, 64), 64, (1, 1));
    #[rustfmt::skip]
    let table = [
        ("bf16 K-major", bf16),
        ("bf16 K-major, stored by threads", but!(bf16, align_c: 2, stages: 2)),
        ("f16 MN-major, cluster 2x1", of(F16, F32, F32, [col, row, row], (128, 128), (64, 128), 128, (2, 1))),
        ("i8, cluster 1x2", but!(of(I8, I32, I32, [row, col, row], (128, 32), (128, 32), 32, (1, 2)), align_c: 1)),
        ("e4m3 from registers", but!(of(E4m3, F32, Bf16, [col, col, row], (128, 64), (64, 64), 64, (1, 1)), a_operand: AOperandKind::Registers)),
        ("i8 from registers, swapped, stored by threads", but!(registers(of(I8, I32, I32, [row, row, row], (128, 64), (64, 64), 64, (1, 1))), align_c: 2)),
        ("e4m3 from registers, swapped", registers(of(E4m3, F32, Bf16, [col, col, col], (128, 64), (64, 64), 64, (1, 1)))),
        ("tf32 from registers, swapped", registers(of(Tf32, F32, F32, [row, row, row], (64, 64), (64, 64), 64, (1, 1)))),
        ("tf32 from registers, cluster 2x1", but!(of(Tf32, F32, F32, [col, col, row], (128, 64), (64, 64), 64, (2, 1)), a_operand: AOperandKind::Registers)),
        ("bf16, column-major D", of(Bf16, F32, Bf16, [row, col, row], (128, 24), (64, 24), 24, (1, 1)).with_rows_as_columns()),
        ("i8, column-major D, stored by threads, cluster 1x2", but!(of(I8, I32, I32, [row, col, col], (128, 32), (128, 32), 32, (1, 2)).with_rows_as_columns(), align_c: 1)),
        ("f16, column-major D, several subtiles", of(F16, F32, F32, [row, col, row], (128, 64), (64, 64), 64, (1, 1)).with_rows_as_columns()),
        ("f16 accumulators, cluster 4x1", of(F16, F16, F16, [row, col, col], (128, 64), (64, 64), 32, (4, 1))),
    ];
    table.into()
}

#[test]
fn every_named_fault_of_a_program_is_found() {
    let [(tiles, of_tiles), (rings, of_rings)] = find_faults(&on_tensor_cores());
    assert_eq!((tiles, rings), (55, 13));
    of_tiles.check(508);
    assert!(of_tiles.kinds("").len() >= 10);
    of_rings.check(133);
}

/// The programs have the byte counts of the description: of the boxes of A and B, and of the
/// subtiles of D.
#[test]
fn programs_have_the_byte_counts_of_the_description() {
    for (name, desc) in on_tensor_cores() {
        let program = program(&desc);
        for operand in OperandKind::BOTH {
            let maps = &program.operands[operand.index()];
            let (shares, copies) = (maps.corner.domain().row, maps.corner.domain().column);
            let bytes = shares * copies * maps.box_mn * 128;
            assert_eq!(bytes, program.components.ring.stage_bytes[operand.index()], "{name}");
            assert_eq!(shares, program.components.ring.shares(operand), "{name}");
        }
        let subtiles = program.ring.subtiles * program.components.ring.staging_bytes;
        assert_eq!(
            subtiles,
            desc.warp().m * desc.warp().n * desc.output.element.bytes_of(1),
            "{name}"
        );
    }
}
