//! Tests of the launches of pointer arrays whose matrices TMA moves.

use crate::{
    arch::{ArchKind, OpKind},
    layout::Order,
    nest::{GemmDesc, defaults::default_description},
    numeric::{Combined, ElementKind},
    operand::Problem,
    threadblock::record_launches::problems,
};

/// Only the distances of matrices that TMA moves divide an array.
#[test]
fn distances_of_matrices_by_tma_divide_an_array() {
    let near = |i: u64| [i << 20, i << 20, i << 20, i << 20];
    let lengths = |desc: &GemmDesc, addresses: &[[u64; 4]]| {
        let all = problems(addresses, desc);
        let launches = Problem::array_launches(&all, desc);
        launches.iter().map(|launch| launch.len()).collect::<Vec<_>>()
    };
    let bf16 = ElementKind::Bf16;
    let types = Combined { a: bf16, b: bf16, accumulator: ElementKind::F32, c: bf16 };
    let orders = [Order::Row, Order::Col, Order::Row];
    let by_tma = default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders);
    let by_tma = by_tma.expect("a kernel").for_array(4);
    let by_threads = by_tma.narrowed([u32::MAX, u32::MAX, 1]);
    let all = [near(1), near(2), near(3), near(4)];
    assert_eq!(lengths(&by_tma, &all), [4]);
    let mut far = all;
    far[2][0] = (16 << 31) + (1 << 20) + 16;
    assert_eq!(lengths(&by_tma, &far), [2, 2]);
    let mut odd = all;
    odd[1][3] += 2;
    assert_eq!((lengths(&by_threads, &odd), lengths(&by_tma, &odd)), (vec![4], vec![1, 1, 2]));
    assert_eq!(lengths(&by_tma, &[]), Vec::<usize>::new());
}
