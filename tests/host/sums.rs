//! Sums of rows and of columns of an epilogue's values.

use crate::harness::prelude::*;
use falchion::epilogue::sums::SumOrder;

falchion::epilogue! { struct Sums = row_sum(col_sum(acc)) }
falchion::epilogue! { struct Squares = row_sumsq(col_sumsq(acc)) }

/// Each GEMM of a batch has sums of its own. They replace old values.
#[test]
fn sums_of_batches() {
    let gemm = Gemm::<f32>::new().epilogue::<Sums>();
    let (a, b) = ([1.0f32, 2.0, -3.0, 4.0], [1.0f32, -2.0]);
    let (mut d, mut rows, mut columns) = ([0.0f32; 8], [f32::NAN; 4], [9.0f32; 4]);
    let call = Arguments::new((2, 2, 1), &a, &b, &mut d).batch(2).batch_stride_b(0);
    gemm.run(call.row_sum(&mut rows).col_sum(&mut columns)).expect("a result");
    assert_eq!(d, [1.0, -2.0, 2.0, -4.0, -3.0, 6.0, 4.0, -8.0]);
    assert_eq!((rows, columns), ([-1.0, -2.0, 3.0, -4.0], [3.0, -6.0, 1.0, -2.0]));
}

/// A column-major D has the same sums, with the names of the user's rows and columns.
#[test]
fn sums_of_each_order_of_d() {
    let (a, b) = ([1.0f32, 2.0, 3.0], [1.0f32, 10.0]);
    let (mut rows, mut columns) = ([0.0f32; 3], [0.0f32; 2]);
    let mut d = [0.0f32; 6];
    let call = Arguments::new((3, 2, 1), &a, &b, &mut d);
    let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, ColMajor>::new().epilogue::<Squares>();
    gemm.run(call.row_sumsq(&mut rows).col_sumsq(&mut columns)).expect("a result");
    assert_eq!(d, [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
    assert_eq!((rows, columns), ([101.0, 404.0, 909.0], [14.0, 1400.0]));
}

/// Groups of rows have sums of rows. Groups along K have all sums, one of each per D.
#[test]
fn sums_of_groups() {
    falchion::epilogue! { struct Rows = row_sum(acc) }
    let (a, b) = ([1.0f32, 2.0, -3.0, 4.0], [1.0f32, 10.0]);
    let (mut d, mut rows) = ([0.0f32; 4], [7.0f32; 4]);
    let call = Arguments::new((4, 1, 1), &a, &b, &mut d).groups(&[0, 3, 4]);
    Gemm::<f32>::new().epilogue::<Rows>().run(call.row_sum(&mut rows)).expect("a result");
    assert_eq!((d, rows), ([1.0, 2.0, -3.0, 40.0], [1.0, 2.0, -3.0, 40.0]));
    let mut column = [0.0f32];
    let call = Arguments::new((4, 1, 1), &a, &b, &mut d).groups(&[0, 3, 4]);
    let call = call.row_sum(&mut rows).col_sum(&mut column);
    let told = Gemm::<f32>::new().epilogue::<Sums>().run(call).expect_err("refused").to_string();
    assert_eq!(
        told,
        "col_sum is not supported by groups along the axis of the sum (its order would depend on the groups); sum the other axis, or use a call per group"
    );
}

/// Sums are NaN or infinite if a value is.
#[test]
fn sums_of_special_values() {
    let (a, mut d) = ([1.0f32, f32::NAN, f32::INFINITY], [0.0f32; 3]);
    let (mut rows, mut columns) = ([0.0f32; 3], [0.0f32]);
    let call = Arguments::new((3, 1, 1), &a, &[1.0f32], &mut d).row_sum(&mut rows);
    Gemm::<f32>::new().epilogue::<Sums>().run(call.col_sum(&mut columns)).expect("a result");
    assert!(rows[0] == 1.0 && rows[1].is_nan() && rows[2] == f32::INFINITY && columns[0].is_nan());
}

/// A sum needs a whole tile, so a second kernel cannot reduce split-K slices. A gate has no sums.
#[test]
fn sums_are_refused_where_the_order_is_unknown() {
    let told = "row_sum(silu(gate) * up)".parse::<EpilogueDesc>().expect_err("refused");
    let wanted = "a sum with gate and up; sum the result in another call";
    assert!(told.to_string().contains(wanted), "{told}");
    let sums = "col_sum(acc)".parse().expect("an epilogue");
    let desc = Gemm::<f32>::new().desc();
    let desc = desc.pinned(Pins {
        epilogue: Some(sums),
        split_k: Some(4),
        decomposition: Some(DecompositionKind::SplitKParallel),
        ..Pins::NONE
    });
    let told = desc.check().expect_err("refused").to_string();
    assert!(told.contains("splitkparallel") && told.contains("try splitk"), "{told}");
}

/// The chains of a part contain each of its lines once, for kernels with each main loop and MMA.
#[test]
fn chains_contain_each_line_once() {
    let mut tiles = BTreeSet::new();
    for &kernel_kind in KernelKind::ALL {
        for seed in 0..40 {
            let wanted = Wanted { kernel_kind, ..Wanted::default() };
            let desc = description(seed, wanted);
            for (operand, tile) in
                [(OperandKind::A, desc.threadblock().m), (OperandKind::B, desc.threadblock().n)]
            {
                let order = SumOrder::new(&desc, operand);
                let mut lines = order.parts.concat().concat().concat();
                lines.sort_unstable();
                assert_eq!(lines, (0..order.tile).collect::<Vec<_>>(), "{desc:?}");
                assert!(tile.is_multiple_of(order.tile), "{tile} {order:?}");
                let mut joined = order.parts.iter().flatten();
                assert!(joined.all(|chains| chains.len().is_power_of_two()), "{order:?}");
                tiles.insert(order.tile);
            }
        }
    }
    assert!(tiles.len() > 5, "{tiles:?}");
}

/// A kernel with narrower accesses adds in the same order, even if its threads need more registers.
#[test]
fn narrower_kernels_add_in_the_same_order() {
    let sums: EpilogueDesc = "row_sum(col_sumsq(acc))".parse().expect("an epilogue");
    let mut spilling = 0;
    for seed in 0..2000 {
        let kernel_kind = KernelKind::ALL[seed as usize % KernelKind::ALL.len()];
        let desc = description(seed, Wanted { kernel_kind, ..Wanted::default() });
        let desc = desc.pinned(Pins { epilogue: Some(sums), ..Pins::NONE });
        if desc.check().is_err() {
            continue;
        }
        for given in [4, 2, 1] {
            let of_operands = if desc.has_producer() { u32::MAX } else { given };
            let narrow = desc.narrowed([of_operands, of_operands, given]);
            assert_eq!(narrow.check(), Ok(()), "{desc:?}");
            for along in OperandKind::BOTH {
                let orders = [&desc, &narrow].map(|desc| SumOrder::new(desc, along));
                assert_eq!(orders[0], orders[1], "{desc:?}");
            }
            spilling += usize::from(narrow.limits != desc.limits);
        }
    }
    assert!(spilling > 0);
}
