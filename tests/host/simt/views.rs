//! Views of matrices of `f32`: `gemm` and `matmul` compute what `Arguments` with strides compute,
//! and refuse views that do not fit.

use super::super::views::{OVERLAPPING, SHAPES, Stored, packed};
use crate::harness::prelude::*;

/// Sub-views with every order of A, B, and D have the bits of packed row-major matrices, and no
/// element outside of D is written.
#[test]
fn gemm_of_views_has_the_bits_of_packed_matrices() {
    for (m, n, k) in SHAPES {
        for orders in 0..8 {
            let column_major = |matrix: usize| orders >> matrix & 1 == 1;
            let a = Stored::new((m, k), column_major(0), 1);
            let b = Stored::new((k, n), column_major(1), 2);
            let mut d = Stored::new((m, n), column_major(2), 3);
            let before = d.memory.clone();
            let mut wanted = vec![f32::NAN; m * n];
            Gemm::<f32>::new()
                .run(Arguments::new((m, n, k), &packed(a.view()), &packed(b.view()), &mut wanted))
                .unwrap();
            let whole = if column_major(2) {
                MatMut::new(&mut d.memory, (n + 4, m + 3)).t()
            } else {
                MatMut::new(&mut d.memory, (m + 3, n + 4))
            };
            let to = whole.rows(2..m + 2).unwrap().columns(1..=n).unwrap();
            falchion::gemm(a.view(), b.view(), to).unwrap();
            assert_eq!(packed(d.view()), wanted, "{m} {n} {k} {orders}");
            for (index, (now, before)) in d.memory.iter().zip(&before).enumerate() {
                let beside = if column_major(2) {
                    let (column, row) = (index / (m + 3), index % (m + 3));
                    !(1..=n).contains(&column) || !(2..m + 2).contains(&row)
                } else {
                    let (row, column) = (index / (n + 4), index % (n + 4));
                    !(1..=n).contains(&column) || !(2..m + 2).contains(&row)
                };
                assert!(!beside || now == before, "element {index} outside of D was written");
            }
            let product = falchion::matmul(a.view(), b.view()).unwrap();
            assert_eq!((product.elements(), product.shape()), (&wanted[..], (m, n)));
        }
    }
}

/// C may be a view, and `Arguments::new` accepts views as operands, with scalars.
#[test]
fn arguments_accept_views_and_slices() {
    let (m, n, k) = (6, 5, 4);
    let c = Stored::new((m, n), false, 3);
    let (a, b) = (vec![1.0f32; m * k], vec![2.0f32; k * n]);
    let mut d = vec![f32::NAN; m * n];
    let arguments = Arguments::new((m, n, k), &a, MatRef::new(&b, (k, n)), &mut d);
    Gemm::<f32>::new().run(arguments.source(2.0, c.view())).unwrap();
    for (index, &x) in d.iter().enumerate() {
        assert_eq!(x, 8.0 + 2.0 * c.view().get(index / n, index % n).unwrap());
    }
    // All matrices of an array have the same shape and strides.
    let view = |columns: usize| MatRef::new(&b, (k, n)).columns(..columns).unwrap();
    let mut ds = [vec![0.0f32; m * 3], vec![0.0f32; m * 3]];
    let array = Arguments::array((m, 3, k), [&a, &a], [view(3), view(3)], &mut ds).unwrap();
    Gemm::<f32>::new().run(array).unwrap();
    assert_eq!(ds, [vec![8.0; m * 3], vec![8.0; m * 3]]);
    let refused =
        Arguments::<_, f32, f32, f32>::array((m, 3, k), [&a, &a], [view(3), view(2)], &mut ds)
            .unwrap_err();
    assert_eq!(refused, Refusal::array_unlike(1));
}

#[test]
fn views_that_do_not_fit_are_refused_by_name() {
    let memory = vec![1.0f32; 64];
    let mut written = vec![7.0f32; 64];
    let view = |shape| MatRef::new(&memory, shape);
    let mut refused = |a: MatRef<'_, f32>, b: MatRef<'_, f32>, d: (usize, usize), strides| {
        let [rows, columns]: [isize; 2] = strides;
        let d = MatMut::new(&mut written, d).strides(rows, columns);
        let error = falchion::gemm(a, b, d).unwrap_err();
        assert!(written.iter().all(|&x| x == 7.0));
        let Error::Refused(refusal) = error else { panic!("{error}") };
        (*refusal, refusal.to_string())
    };
    let (refusal, said) = refused(view((2, 3)), view((4, 5)), (2, 5), [5, 1]);
    assert_eq!(refusal, Refusal::inner_extents(3, 4));
    assert_eq!(said, "columns of A = 3 is not 4 (rows of B)");
    let (_, said) = refused(view((2, 3)), view((3, 5)), (3, 5), [5, 1]);
    assert_eq!(said, "shape of D = 3 x 5 is not 2 x 5");
    let negative = Refusal::negative_stride(Operand::A, [-3, 1]);
    let (refusal, said) = refused(view((2, 3)).strides(-3, 1), view((3, 5)), (2, 5), [5, 1]);
    assert_eq!(refusal, negative);
    assert_eq!(
        said,
        "strides of A = -3 and 1 are not positive; copy the matrix in ascending order"
    );
    let (refusal, _) = refused(view((2, 3)), view((3, 5)), (2, 5), [-5, 1]);
    assert_eq!(refusal, Refusal::negative_stride(Operand::D, [-5, 1]));
    // Strides of 0 overlap.
    for strides in [[0, 1], [1, 0], [0, 0]] {
        refused(view((2, 3)), view((3, 5)), (2, 5), strides);
    }
    // Rows overlap if the strides are set individually. A leading dimension that is too small is
    // refused instead.
    let (refusal, _) = refused(view((2, 3)).ld(2), view((3, 5)), (2, 5), [5, 1]);
    assert_eq!(refusal, Refusal::leading_dimension(Operand::A, 2, 3, Order::Row));
    // Neither stride of A is 1.
    let (refusal, _) = refused(view((2, 3)).strides(8, 2), view((3, 5)), (2, 5), [5, 1]);
    assert!(matches!(refusal, Refusal { field: Field::StridesOf(Operand::A), .. }), "{refusal}");
    // The memory is too short, also with an offset.
    for a in [view((20, 4)), view((64, 1)).rows(60..).unwrap().strides(30, 1)] {
        let (refusal, _) = refused(a, view((a.shape().1, 2)), (a.shape().0, 2), [2, 1]);
        assert!(matches!(refusal, Refusal { field: Field::Length(Operand::A), .. }), "{refusal}");
    }
    // Extreme strides and shapes.
    refused(view((2, 2)).strides(isize::MAX, 1), view((2, 2)), (2, 2), [2, 1]);
    refused(view((2, 2)).strides(isize::MIN, 1), view((2, 2)), (2, 2), [2, 1]);
    refused(view((usize::MAX, 2)), view((2, 2)), (usize::MAX, 2), [2, 1]);
    // A call does not set strides in addition to those of a view.
    let mut d = [0.0f32; 4];
    let arguments = Arguments::new((2, 2, 2), view((2, 2)), view((2, 2)), &mut d).lda(4);
    let refusal = Gemm::<f32>::new().can_implement(&arguments).unwrap_err();
    assert_eq!(refusal, Refusal::strides_of_view(Operand::A));
}

/// The stride of a single row or column is not read.
#[test]
fn the_stride_of_a_single_row_is_not_read() {
    let (a, b) = (vec![1.0f32; 4], vec![2.0f32; 4]);
    let mut d = [f32::NAN];
    let (a, b) = (MatRef::new(&a, (1, 4)).strides(-9, 1), MatRef::new(&b, (4, 1)).strides(1, -7));
    falchion::gemm(a, b, MatMut::new(&mut d, (1, 1)).strides(isize::MIN, isize::MAX)).unwrap();
    assert_eq!(d, [8.0]);
}

/// Lines of A and B may overlap, down to a stride of 0, which repeats one line. Kernels read such
/// matrices in place. The result has the bits of packed copies.
#[test]
fn lines_of_inputs_may_overlap() {
    let gemm = Gemm::<f32>::new();
    let memory: Vec<_> = (0..2000).map(rounding).collect();
    for (m, n, k) in SHAPES {
        for (down, across) in OVERLAPPING.iter().flat_map(|a| OVERLAPPING.map(|b| (*a, b))) {
            let mut results = [(); 2].map(|()| vec![f32::NAN; m * n]);
            let [d, wanted] = &mut results;
            let a = MatRef::new(&memory, (m, k)).strides(down[0], down[1]);
            let b = MatRef::new(&memory, (k, n)).strides(across[0], across[1]);
            gemm.run(Arguments::new((m, n, k), a, b, &mut *d)).unwrap();
            let (a, b) = (packed(a), packed(b));
            gemm.run(Arguments::new((m, n, k), &a, &b, &mut *wanted)).unwrap();
            assert!(d == wanted, "{m} {n} {k} {down:?} {across:?}");
        }
    }
}

/// A large GEMM without elements is refused before allocation.
#[test]
fn large_product_without_elements_is_refused() {
    let empty: [f32; 0] = [];
    let (a, b) = (MatRef::new(&empty, (1 << 40, 0)), MatRef::new(&empty, (0, 1 << 40)));
    assert!(falchion::matmul(a, b).is_err());
}
