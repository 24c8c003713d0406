//! Guarantees of a call, as in BLAS: which operands are not read, which elements are not written,
//! and the results of extreme arguments.

use crate::harness::prelude::*;

type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor>;
type Columns = Gemm<f32, ColMajor, f32, ColMajor, f32, ColMajor>;

const NAN: f32 = f32::NAN;

type OfF32<'a> = Arguments<'a, falchion::device::Host, f32, f32, f32>;

fn rows(arguments: OfF32<'_>) {
    Rows::new().run(arguments).expect("a row-major D");
}

fn columns(arguments: OfF32<'_>) {
    Columns::new().run(arguments).expect("a column-major D");
}

/// Returns distinct small integers.
fn numbers(length: usize, from: i32) -> Vec<f32> {
    (0..length as i32).map(|i| ((i * 7 + from) % 11 - 5) as f32).collect()
}

/// Returns `alpha A·B + beta C` of packed row-major integer matrices.
fn product((m, n, k): (usize, usize, usize), a: &[f32], b: &[f32]) -> Vec<f32> {
    let dot = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
    (0..m * n).map(|at| dot(at / n, at % n)).collect()
}

/// Sizes of one element, part of a tile, one tile, and several tiles with a partial one.
const SIZES: [(usize, usize, usize); 5] =
    [(1, 1, 1), (5, 3, 7), (128, 128, 16), (130, 257, 33), (257, 1, 300)];

#[test]
fn beta_zero_does_not_read_c() {
    for size @ (m, n, k) in SIZES {
        let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
        let want = product(size, &a, &b);
        for poison in [NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let c = vec![poison; m * n];
            let mut d = vec![poison; m * n];
            rows(Arguments::new(size, &a, &b, &mut d).source(0.0, &c));
            assert_eq!(d, want);
            d.fill(poison);
            rows(Arguments::new(size, &a, &b, &mut d).in_place(0.0));
            assert_eq!(d, want);
            // C may also be absent.
            d.fill(poison);
            rows(Arguments::new(size, &a, &b, &mut d).source(0.0, &[0f32; 0]));
            assert_eq!(d, want);
        }
    }
}

#[test]
fn alpha_zero_does_not_read_a_and_b() {
    for size @ (m, n, k) in SIZES {
        let c = numbers(m * n, 3);
        for poison in [NAN, f32::INFINITY] {
            let (a, b) = (vec![poison; m * k], vec![poison; k * n]);
            for beta in [1.0, -0.5, 2.0] {
                let want: Vec<f32> = c.iter().map(|x| beta as f32 * x).collect();
                let mut d = vec![poison; m * n];
                rows(Arguments::new(size, &a, &b, &mut d).alpha(0.0).source(beta, &c));
                assert_eq!(d, want);
                let mut d = c.clone();
                rows(
                    Arguments::new(size, &[0f32; 0], &[0f32; 0], &mut d).alpha(0.0).in_place(beta),
                );
                assert_eq!(d, want);
            }
            let mut d = vec![poison; m * n];
            rows(Arguments::new(size, &a, &b, &mut d).alpha(0.0));
            assert!(d.iter().all(|x| x.to_bits() == 0), "alpha and beta of 0 give +0");
        }
    }
}

#[test]
fn nan_and_infinity_reach_only_their_rows_and_columns() {
    let size @ (m, n, k) = (130, 140, 40);
    let (mut a, mut b) = (vec![1.0f32; m * k], vec![1.0f32; k * n]);
    a[3 * k + 39] = NAN;
    a[129 * k] = f32::INFINITY;
    b[7 * n + 5] = f32::NEG_INFINITY;
    let mut d = vec![0f32; m * n];
    rows(Arguments::new(size, &a, &b, &mut d));
    for (at, &x) in d.iter().enumerate() {
        match (at / n, at % n) {
            (3, _) => assert!(x.is_nan()),
            (129, 5) => assert!(x.is_nan(), "infinity minus infinity"),
            (129, _) => assert_eq!(x, f32::INFINITY),
            (_, 5) => assert_eq!(x, f32::NEG_INFINITY),
            _ => assert_eq!(x, 40.0),
        }
    }
    // Infinity times zero.
    let mut d = [0f32];
    rows(Arguments::new((1, 1, 2), &[f32::INFINITY, 1.0], &[0.0, 1.0], &mut d));
    assert!(d[0].is_nan());
}

#[test]
fn an_empty_d_is_not_written_and_an_empty_k_sums_to_zero() {
    let (a, b) = (numbers(64, 1), numbers(64, 2));
    for size in [(0, 8, 8), (8, 0, 8), (0, 0, 0), (0, 8, 0), (8, 0, 0)] {
        let mut d = vec![NAN; 64];
        rows(Arguments::new(size, &a, &b, &mut d));
        columns(Arguments::new(size, &a, &b, &mut d));
        assert!(d.iter().all(|x| x.is_nan()), "{size:?}");
    }
    let c = numbers(64, 3);
    let mut d = vec![NAN; 64];
    rows(Arguments::new((8, 8, 0), &[0f32; 0], &[0f32; 0], &mut d).source(-0.5, &c));
    assert_eq!(d, c.iter().map(|x| -0.5 * x).collect::<Vec<_>>());
    columns(Arguments::new((8, 8, 0), &[0f32; 0], &[0f32; 0], &mut d).in_place(2.0));
    assert_eq!(d, c.iter().map(|x| -x).collect::<Vec<_>>());
    rows(Arguments::new((8, 8, 0), &[0f32; 0], &[0f32; 0], &mut d));
    assert!(d.iter().all(|x| x.to_bits() == 0), "no products and no C give +0");
}

#[test]
fn gaps_between_rows_are_neither_read_nor_written() {
    let size @ (m, n, k) = (70, 33, 29);
    let (a, b, c) = (numbers(m * k, 1), numbers(k * n, 2), numbers(m * n, 3));
    let want: Vec<f32> = product(size, &a, &b).iter().zip(&c).map(|(x, y)| x + y).collect();
    for beyond in [0, 1, 5, 100] {
        let spread = |packed: &[f32], columns: usize| -> Vec<f32> {
            packed
                .chunks(columns)
                .flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(NAN, beyond)))
                .collect()
        };
        let (a, b, c) = (spread(&a, k), spread(&b, n), spread(&c, n));
        // The last row may end where its elements do.
        let cut = |x: &[f32]| x[..x.len() - beyond].to_vec();
        let mut d = cut(&vec![-77.0; m * (n + beyond)]);
        let (a, b, c) = (cut(&a), cut(&b), cut(&c));
        let arguments = Arguments::new(size, &a, &b, &mut d);
        rows(
            arguments
                .lda(k + beyond)
                .ldb(n + beyond)
                .source(1.0, &c)
                .ldc(n + beyond)
                .ldd(n + beyond),
        );
        for (at, x) in d.iter().enumerate() {
            let (row, column) = (at / (n + beyond), at % (n + beyond));
            assert_eq!(*x, if column < n { want[row * n + column] } else { -77.0 });
        }
    }
}

#[test]
fn in_place_ldc_is_the_leading_dimension_of_d() {
    let (a, b) = (numbers(6, 1), numbers(12, 2));
    let mut d = vec![1f32; 2 * 9];
    rows(Arguments::new((2, 4, 3), &a, &b, &mut d).in_place(2.0).ldc(9));
    let want = product((2, 4, 3), &a, &b);
    for (at, x) in d.iter().enumerate() {
        assert_eq!(*x, if at % 9 < 4 { want[at / 9 * 4 + at % 9] + 2.0 } else { 1.0 });
    }
}

#[test]
fn a_single_row_may_have_any_leading_dimension() {
    let (a, b) = ([1f32, 2.0, 3.0], [4f32, 5.0, 6.0]);
    for leading in [3, 1 << 40, usize::MAX] {
        let mut d = [NAN];
        rows(Arguments::new((1, 1, 3), &a, &b, &mut d).lda(leading).ldd(leading));
        assert_eq!(d, [32.0]);
        d = [1.0];
        columns(Arguments::new((1, 1, 3), &a, &b, &mut d).ldb(leading).in_place(1.0).ldc(leading));
        assert_eq!(d, [33.0]);
        // An operand that is not read may have any size.
        rows(
            Arguments::new((1, 1, 3), &a, &b, &mut d)
                .alpha(0.0)
                .in_place(2.0)
                .lda(leading)
                .ldb(leading),
        );
        assert_eq!(d, [66.0]);
    }
}

#[test]
fn denormals_are_kept_and_negative_zeros_sum_to_zero() {
    let least = f32::from_bits(1);
    let mut d = [NAN];
    let mut run = |a: &[f32], b: &[f32], alpha: f64| {
        rows(Arguments::new((1, 1, a.len()), a, b, &mut d).alpha(alpha));
        d[0].to_bits()
    };
    assert_eq!(run(&[least], &[1.0], 1.0), 1);
    assert_eq!(run(&[least; 5], &[1.0; 5], 1.0), 5);
    assert_eq!(run(&[least; 5], &[1.0; 5], -0.5), (-2.0 * least).to_bits(), "halves go to even");
    assert_eq!(run(&[1e-30], &[1e-10], 1.0), (1e-30f32 * 1e-10f32).to_bits());
    assert_eq!(run(&[-0.0; 3], &[1.0; 3], 1.0), 0, "sums begin with +0");
    assert_eq!(run(&[0.0; 3], &[1.0; 3], -1.0), 0, "-0, and the +0 of beta * C");

    let half = |x: f32| F16::from_f32(x);
    let mut d = [F16::NAN];
    let gemm = Gemm::<F16, RowMajor, F16, RowMajor, F16, RowMajor>::new();
    gemm.run(Arguments::new((1, 1, 1), &[F16::from_bits(1)], &[half(1.0)], &mut d)).unwrap();
    assert_eq!(d[0].to_bits(), 1);
}

#[test]
fn d_may_be_c_for_every_layout_and_type() {
    let (a, b) = ([1i8, 2, 3, 4], [5i8, 6, 7, 8]);
    let mut d = [1i32, 2, 3, 4];
    Gemm::<i8, RowMajor, i8, RowMajor, i32, ColMajor>::new()
        .run(Arguments::new((2, 2, 2), &a, &b, &mut d).alpha(2.0).in_place(3.0))
        .unwrap();
    assert_eq!(d, [2 * 19 + 3, 2 * 43 + 6, 2 * 22 + 9, 2 * 50 + 12]);
}

#[test]
fn integers_wrap_saturate_and_round() {
    // The sum wraps modulo 2^32.
    let mut d = [0i32];
    let gemm = Gemm::<i32, RowMajor, i32, RowMajor, i32, RowMajor>::new();
    gemm.run(Arguments::new((1, 1, 2), &[i32::MAX, 1], &[1, 1], &mut d)).unwrap();
    assert_eq!(d, [i32::MIN]);

    // Integer scalars compute in integers. Other scalars compute in binary32, which rounds to
    // nearest, ties to even.
    let bytes = Gemm::<i8, RowMajor, i8, RowMajor, i8, RowMajor>::new();
    let run = |a: &[i8], b: &[i8], alpha: f64| {
        let mut d = [99i8];
        let arguments = Arguments::new((1, 1, a.len()), a, b, &mut d).alpha(alpha);
        assert_eq!(bytes.can_implement(&arguments), Ok(()));
        bytes.run(arguments).unwrap();
        d[0]
    };
    assert_eq!(run(&[100, 100], &[100, 100], 1.0), 127);
    assert_eq!(run(&[100, 100], &[-100, -100], 1.0), -128);
    assert_eq!([1, 3, 5, -1, -3].map(|x| run(&[x], &[1], 0.5)), [0, 2, 2, 0, -2]);
    // 2 * 2^30 wraps in integers and saturates in binary32.
    assert_eq!(
        run(&[127; 2], &[127; 2], 2_000_000_000.0),
        (2 * 127 * 127i32).wrapping_mul(2_000_000_000).clamp(-128, 127) as i8
    );
    assert_eq!(run(&[127; 2], &[127; 2], 3_000_000_000.0), 127);
    // NaN becomes 0, and infinity becomes the limit of the range.
    assert_eq!(run(&[1], &[1], f64::NAN), 0);
    assert_eq!(run(&[1], &[1], f64::INFINITY), 127);
    assert_eq!(run(&[1], &[-1], f64::INFINITY), -128);
    assert_eq!(run(&[0], &[1], f64::INFINITY), 0, "infinity times zero is NaN");

    let mut d = [9u8];
    let unsigned = Gemm::<u8, RowMajor, u8, RowMajor, u8, RowMajor>::new();
    unsigned.run(Arguments::new((1, 1, 1), &[200], &[200], &mut d).alpha(-1.0)).unwrap();
    assert_eq!(d, [0]);
    let mut d = [9f32];
    let widened = Gemm::<i8, RowMajor, i8, RowMajor, f32, RowMajor>::new();
    widened.run(Arguments::new((1, 1, 1), &[3], &[5], &mut d).alpha(0.5)).unwrap();
    assert_eq!(d, [7.5]);
}

#[test]
fn overflow_is_infinite_and_results_are_rounded_once() {
    let half = F16::from_f32;
    let gemm = Gemm::<F16, RowMajor, F16, RowMajor, F16, RowMajor>::new();
    let mut d = [F16::NAN];
    gemm.run(Arguments::new((1, 1, 2), &[half(60_000.0); 2], &[half(1.0); 2], &mut d)).unwrap();
    assert_eq!(d[0], F16::INFINITY);
    // 2048 + 1 + 1 is 2050 in binary32. In f16 it would be 2048.
    let (a, b) = ([half(2048.0), half(1.0), half(1.0)], [half(1.0); 3]);
    gemm.run(Arguments::new((1, 1, 3), &a, &b, &mut d)).unwrap();
    assert_eq!(d[0], half(2050.0));
    let in_halves = Gemm::<F16, RowMajor, F16, RowMajor, F16, RowMajor, F16>::new();
    in_halves.run(Arguments::new((1, 1, 3), &a, &b, &mut d)).unwrap();
    assert_eq!(d[0], half(2048.0));
}

/// A and B may have either order, also with padded rows. C and D may have any strides.
#[test]
fn a_and_b_may_have_either_order() {
    let transposed = |x: &[f32], rows: usize, columns: usize| -> Vec<f32> {
        (0..rows * columns).map(|at| x[at % rows * columns + at / rows]).collect()
    };
    for size @ (m, n, k) in SIZES {
        let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
        let want = product(size, &a, &b);
        let (a_columns, b_columns) = (transposed(&a, m, k), transposed(&b, k, n));
        let mut d = vec![NAN; m * n];
        rows(Arguments::new(size, &a_columns, &b_columns, &mut d).strides_a(1, m).strides_b(1, k));
        assert_eq!(d, want);
        // For a column-major D, the operands and their strides are swapped.
        let mut d = vec![NAN; m * n];
        columns(Arguments::new(size, &a, &b_columns, &mut d).strides_a(k, 1).strides_b(1, k));
        assert_eq!(d, transposed(&want, m, n));
        let mut d = vec![NAN; m * n];
        columns(
            Arguments::new(size, &a, &b, &mut d).strides_a(k, 1).strides_b(n, 1).strides_d(1, m),
        );
        assert_eq!(d, transposed(&want, m, n));
    }
    let (a, b) = (numbers(24, 1), numbers(30, 2));
    // D may have any strides that give each element its own address, and C any strides.
    let mut plain = vec![NAN; 20];
    Columns::new().run(Arguments::new((4, 5, 6), &a, &b, &mut plain)).expect("a run");
    for [down, across] in [[5, 1], [2, 8], [13, 2], [1, 7]] {
        for [c_down, c_across] in [[1, 4], [5, 1], [0, 3], [3, 0]] {
            let (mut d, c) = (vec![NAN; 60], numbers(40, 3));
            let arguments = Arguments::new((4, 5, 6), &a, &b, &mut d).strides_d(down, across);
            let arguments = arguments.source(1.0, &c).strides_c(c_down, c_across);
            Columns::new().run(arguments).expect("a run");
            for (i, j) in (0..4).flat_map(|i| (0..5).map(move |j| (i, j))) {
                let wanted = plain[i + 4 * j] + c[i * c_down + j * c_across];
                assert_eq!(d[i * down + j * across], wanted, "{down} {across}");
            }
            let written = d.iter().filter(|x| !x.is_nan()).count();
            assert_eq!(written, 20, "{down} {across}");
        }
    }
    let mut d = vec![7.0; 60];
    let arguments = Arguments::new((4, 5, 6), &a, &b, &mut d).strides_d(2, 3);
    assert_eq!(
        Columns::new().run(arguments).message(),
        "strides of D = 2 and 3 place two elements at one address; let one stride exceed the reach of the other"
    );
    assert_eq!(d, vec![7.0; 60]);
}

/// The pitch of a single row or column is not read, so any value is accepted. Overlapping lines of
/// D are refused.
#[test]
fn the_pitch_of_a_single_line_is_not_read() {
    for (m, n, k) in [(1, 5, 4), (5, 1, 4), (1, 1, 4), (4, 5, 1), (1, 1, 1), (3, 1, 1), (1, 3, 1)] {
        for (other, stride) in [(0, 1), (0, 3), (9, 1), (9, 2), (1, 1), (2, 2)] {
            let all = numbers(200, 3);
            // A dimension of 1 has the unusual stride, and the other dimension has `stride`. If no
            // dimension is 1, rows are packed.
            let strides = |rows: usize, columns: usize| match (rows, columns) {
                (1, _) => [other, stride],
                (_, 1) => [stride, other],
                _ => [columns, 1],
            };
            let ([a, b], [of_rows, of_columns]) =
                ([strides(m, k), strides(k, n)], [strides(m, n); 2]);
            let at = |s: [usize; 2], i: usize, j: usize| i * s[0] + j * s[1];
            let want = |i: usize, j: usize| {
                (0..k).map(|x| all[at(a, i, x)] * all[at(b, x, j)]).sum::<f32>()
            };
            let check = |d: &[f32], s: [usize; 2]| {
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    assert_eq!(d[at(s, i, j)], want(i, j), "{m} x {n} x {k}, {other} {stride}");
                }
            };
            let mut d = vec![NAN; 60];
            // A strided vector is a row-major column, or a column-major row.
            if n == 1 || stride == 1 || m > 1 {
                let arguments = Arguments::new((m, n, k), &all, &all, &mut d)
                    .strides_a(a[0], a[1])
                    .strides_b(b[0], b[1]);
                Rows::new().run(arguments.strides_d(of_rows[0], of_rows[1])).expect("a product");
                check(&d, of_rows);
            }
            if m == 1 || stride == 1 && n == 1 {
                let arguments = Arguments::new((m, n, k), &all, &all, &mut d)
                    .strides_a(a[0], a[1])
                    .strides_b(b[0], b[1]);
                Columns::new()
                    .run(arguments.strides_d(of_columns[0], of_columns[1]))
                    .expect("a product");
                check(&d, of_columns);
            }
        }
    }
    let (a, mut d) = (numbers(24, 1), vec![0.0; 60]);
    let refused = Rows::new()
        .run(Arguments::new((4, 5, 6), &a, &[1.0; 30], &mut d).strides_d(0, 1))
        .expect_err("rows overlap");
    assert_eq!(
        refused.to_string(),
        "leading dimension of D = 0 is less than 5 (number of columns); try 5"
    );
}
