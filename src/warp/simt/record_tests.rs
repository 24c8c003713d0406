//! Tests of the launches of pointer arrays whose matrices threads move.

use crate::{
    arch::{ArchKind, OpKind},
    layout::Order,
    nest::defaults::default_description,
    numeric::{Combined, ElementKind},
    operand::Problem,
    threadblock::record_launches::problems,
};

#[test]
fn distances_of_matrices_by_threads_do_not_divide_an_array() {
    let f32 = ElementKind::F32;
    let types = Combined { a: f32, b: f32, accumulator: f32, c: f32 };
    let simt = default_description(OpKind::Simt, ArchKind::Sm90, types, [Order::Row; 3]);
    let simt = simt.expect("a kernel").for_array(4);
    let mut far = [1u64, 2, 3, 4].map(|i| [i << 20; 4]);
    far[2][0] = (16 << 31) + (1 << 20) + 16;
    let launches = Problem::array_launches(&problems(&far, &simt), &simt).len();
    assert_eq!(launches, 1);
}
