//! Tests of the launches of pointer arrays whose matrices TMA moves.

use crate::{
    arch::{ArchKind, OpKind},
    layout::Order,
    nest::{GemmDesc, defaults::default_description},
    numeric::{Combined, ElementKind},
    operand::Problem,
    threadblock::record_launches::problems,
};

/// Returns the default kernel of a type that accumulates in `f32`.
fn kernel(op: OpKind, kind: ElementKind, orders: [Order; 3]) -> GemmDesc {
    let types = Combined { a: kind, b: kind, accumulator: ElementKind::F32, c: kind };
    default_description(op, ArchKind::Sm90, types, orders).expect("a kernel")
}

/// Only the distances of matrices that TMA moves divide an array.
#[test]
fn distances_of_matrices_by_tma_divide_an_array() {
    let near = |i: u64| [i << 20, i << 20, i << 20, i << 20];
    let lengths = |desc: &GemmDesc, addresses: &[[u64; 4]]| {
        let all = problems(addresses, desc);
        let launches = Problem::array_launches(&all, desc);
        launches.iter().map(|launch| launch.len()).collect::<Vec<_>>()
    };
    let row = Order::Row;
    let simt = kernel(OpKind::Simt, ElementKind::F32, [row; 3]).for_array(4);
    let by_tma = kernel(OpKind::TensorOp, ElementKind::Bf16, [row, Order::Col, row]).for_array(4);
    let by_threads = by_tma.narrowed([u32::MAX, u32::MAX, 1]);
    let all = [near(1), near(2), near(3), near(4)];
    assert_eq!(lengths(&by_tma, &all), [4]);
    let mut far = all;
    far[2][0] = (16 << 31) + (1 << 20) + 16;
    assert_eq!(lengths(&by_tma, &far), [2, 2]);
    assert_eq!(lengths(&simt, &far), [4]);
    let mut odd = all;
    odd[1][3] += 2;
    assert_eq!((lengths(&by_threads, &odd), lengths(&by_tma, &odd)), (vec![4], vec![1, 1, 2]));
    assert_eq!(lengths(&by_tma, &[]), Vec::<usize>::new());
}
