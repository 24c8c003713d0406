//! Split-K of SIMT kernels: the order in which slices are added, refusals, and the memory of the
//! partials.

use super::super::split_k::{assert_same_bits, check_rows, one_element};
use crate::harness::{decompositions::slice_ranges, prelude::*};

/// Returns a description with row-major A and D, column-major B, and one element type. Its k-tiles
/// have a depth of 8, and K has `slices` split-K slices.
fn split(kind: &str, slices: u32) -> GemmDesc {
    operation(kind, slices).desc()
}

fn operation(kind: &str, slices: u32) -> GemmOperation {
    let types = ["row", "col", "row"].map(|order| format!("{kind}:{order}"));
    let knobs = [("threadblock", "64x64x8"), ("split_k", &slices.to_string())];
    let request = request(types.each_ref().map(|types| &types[..]), &knobs);
    GemmOperation::from_request(&Request { accumulator: kind.parse().ok(), ..request })
        .expect("a kernel")
}

#[test]
fn split_k_slices_are_added_eight_at_a_time() {
    for (slices, k) in
        [(2, 16), (3, 100), (8, 200), (9, 200), (20, 1000), (64, 600), (65, 1041), (256, 2050)]
    {
        let (a, b): (Vec<f32>, Vec<f32>) =
            (0..k).map(|i| (rounding(i), rounding(3 * i + 1))).unzip();
        let chain =
            |range: core::ops::Range<usize>| range.fold(0.0f32, |sum, i| a[i].mul_add(b[i], sum));
        let wanted =
            eight_by_eight(slice_ranges(k, 8, slices).into_iter().map(chain).collect(), |x, y| {
                x + y
            });
        for mode in [Mode::Fast, Mode::Checked { seed: 5 }] {
            let mut d = [f32::NAN];
            run(&split("f32", slices as u32), mode, (&a, &b, &mut d));
            assert_same_bits(d[0], wanted, slices);
        }
    }
}

/// Computes one element of D.
fn run<T: MathType<Storage = T> + bytemuck::Pod>(
    desc: &GemmDesc,
    mode: Mode,
    operands: (&[T], &[T], &mut [T]),
) {
    one_element::<T, T>(desc, mode, [operands.0, operands.1], operands.2);
}

/// Slices of f16 are added in f32, and the sum is rounded once. One slice is 2048, and seven slices
/// are 1. The sum of 2055 rounds to 2056 in f16. Additions in f16 would lose each 1.
#[test]
fn f16_slices_are_added_in_f32() {
    let one = |value: f32| F16::from_f32(value);
    let a: Vec<F16> = (0..64)
        .map(|k| {
            one(if k == 0 {
                2048.0
            } else if k % 8 == 0 {
                1.0
            } else {
                0.0
            })
        })
        .collect();
    let b = vec![one(1.0); 64];
    for mode in [Mode::Fast, Mode::Checked { seed: 1 }] {
        let mut d = [one(f32::NAN)];
        run(&split("f16", 8), mode, (&a, &b, &mut d));
        assert_eq!(d[0].to_f32(), 2056.0, "{mode:?}");
    }
}

fn typed(slices: u32) -> GemmOperation<f32, f32, f32> {
    operation("f32", slices).typed().expect("f32 operands")
}

/// The division of K depends on neither the batch nor the number of rows. Therefore, a GEMM of a
/// batch and a single row have the bits of separate calls.
#[test]
fn a_gemm_of_a_batch_has_the_bits_of_a_separate_call() {
    let (m, n, k, batch) = (70, 66, 333, 3);
    let (a, b): (Vec<f32>, Vec<f32>) = (
        (0..batch * m * k).map(rounding).collect(),
        (0..batch * n * k).map(|i| rounding(i + 5)).collect(),
    );
    let gemm = typed(5);
    let mut together = vec![f32::NAN; batch * m * n];
    let of = |range: core::ops::Range<usize>| {
        (&a[range.start * m * k..range.end * m * k], &b[range.start * n * k..range.end * n * k])
    };
    let (all_a, all_b) = of(0..batch);
    gemm.run(Arguments::new((m, n, k), all_a, all_b, &mut together[..]).batch(batch))
        .expect("a batch");
    for product in 0..batch {
        let (a, b) = of(product..product + 1);
        let mut alone = vec![f32::NAN; m * n];
        gemm.run(Arguments::new((m, n, k), a, b, &mut alone[..])).expect("a product");
        assert_eq!(alone, together[product * m * n..][..m * n]);
        let mut one_row = vec![f32::NAN; n];
        gemm.run(Arguments::new((1, n, k), &a[..k], b, &mut one_row[..])).expect("a row");
        assert_eq!(one_row, alone[..n]);
    }
}

#[test]
fn refusals_name_the_rule() {
    let gemm = typed(5);
    let (a, b, mut d) = ([1.0f32; 32], [1.0f32; 32], [f32::NAN; 1]);
    let refused =
        gemm.run(Arguments::new((1, 1, 32), &a[..], &b[..], &mut d[..])).expect_err("four k-tiles");
    assert_eq!(
        refused.to_string(),
        "split_k = 5 is outside 1 to 4 (a slice has at least one k-tile); try 4"
    );
    assert!(d[0].is_nan());
    for (slices, least) in [("0", "try 1"), ("257", "try 256"), ("4294967295", "try 256")] {
        let knobs = knobs(&[("split_k", slices)]);
        let said = GemmOperation::from_request(&Request { knobs, ..Request::default() }).message();
        assert!(
            said.starts_with(&format!("split_k = {slices} is outside 1 to 256"))
                && said.contains(least),
            "{said}"
        );
    }
}

/// If K or alpha is 0, split-K does not change D.
#[test]
fn split_k_of_zero_products_stores_beta_c() {
    let gemm = typed(4);
    let mut d = [f32::NAN; 6];
    gemm.run(Arguments::new((2, 3, 0), &[][..], &[][..], &mut d[..])).expect("K = 0");
    assert_eq!(d, [0.0; 6]);
    let (a, b, c) = ([f32::NAN; 4], [f32::NAN; 6], [2.0f32; 6]);
    let arguments = Arguments::new((2, 3, 2), &a[..], &b[..], &mut d[..]);
    gemm.run(arguments.alpha(0.0).source(0.5, &c[..])).expect("alpha = 0");
    assert_eq!(d, [1.0; 6]);
}

/// Each split-K slice of a tile has a slot. Each eight slices have a ticket, and so has each eight
/// sums: 20 slices have three tickets on the first level and one on the second.
#[test]
fn the_workspace_has_slots_and_tickets() {
    let bytes = |kind, slices, extents| {
        let desc = split(kind, slices);
        desc.routes(&Problem::new(&desc, extents, [None; 3], [1.0; 8]))
            .expect("a kernel")
            .workspace_bytes()
    };
    let slot = 64 * 64 * 4;
    assert_eq!(bytes("f32", 1, (100, 100, 1000)), 0);
    assert_eq!(bytes("f32", 20, (100, 100, 1000)), 4 * 20 * slot + 256 + 256);
    assert_eq!(bytes("f16", 20, (100, 100, 1000)), 4 * 20 * slot + 256 + 256);
    assert_eq!(bytes("f64", 20, (100, 100, 1000)), 4 * 20 * slot * 2 + 256 + 256);
    // Space for four times the tiles, because a kernel with narrower accesses may have tiles of a
    // quarter of the size.
    let tickets = (4 * 10_000 * 4 * 4u64).next_multiple_of(256);
    assert_eq!(bytes("f32", 20, (6400, 6400, 1000)), 10_000 * 20 * slot + tickets + 256);
    assert_eq!(bytes("f32", 20, (0, 100, 1000)), 0);
}

#[test]
fn rows_do_not_depend_on_other_rows() {
    check_rows::<f32>(("f32", OpKind::Simt, ArchKind::Sm80), |x| x);
}
