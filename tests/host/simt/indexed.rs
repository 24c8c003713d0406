//! Index lists of typed calls on the host: refusals, the extents of matrices, and groups.

use crate::harness::prelude::*;

/// Returns the message of a call of 3 x 2 x 2 with A of 4 rows, B of 5 columns, and D of 6 rows.
macro_rules! refused {
    ($($list:tt)*) => {{
        let (a, b, mut d) = ([1.0f32; 8], [1.0f32; 10], [7.0f32; 12]);
        let arguments = Arguments::new((3, 2, 2), &a, &b, &mut d);
        let told = Gemm::<f32>::new().run(arguments.$($list)*).message();
        assert_eq!(d, [7.0; 12], "{told}");
        told
    }};
}

#[test]
fn indices_outside_of_a_matrix_are_refused() {
    let told = refused!(gather_a(&[0, 4, 9]));
    assert_eq!(told, "index 1 of A = 4 is outside 0 to 3; try 3");
    let told = refused!(gather_b(&[5, 0]));
    assert_eq!(told, "index 0 of B = 5 is outside 0 to 4; try 4");
    let told = refused!(scatter_d(&[0, 1, 6]));
    assert_eq!(told, "index 2 of D = 6 is outside 0 to 5; try 5");
    let told = refused!(gather_a_checked(&[0, u32::MAX, 9]));
    assert_eq!(told, "index 1 of A = 4294967295 is outside 0 to 3; try 3");
    let told = refused!(gather_b_by_value(&[4, 5]));
    assert_eq!(told, "index 1 of B = 5 is outside 0 to 4; try 4");
}

#[test]
fn repeated_and_missing_indices_are_refused() {
    let told = refused!(scatter_d(&[5, 2, 5]));
    assert_eq!(
        told,
        "index 2 of D = 5 repeats index 0 (both lines would be stored at one place); give each line of D its own index"
    );
    let told = refused!(gather_a(&[0, 1]));
    assert_eq!(told, "length of the indices of A = 2 elements is less than 3 elements");
    let told = refused!(gather_b(&[0]));
    assert_eq!(told, "length of the indices of B = 1 element is less than 2 elements");
    let told = refused!(scatter_d(&[]));
    assert_eq!(told, "length of the indices of D = 0 elements is less than 3 elements");
}

#[test]
fn indices_of_arrays_and_transposes_are_refused() {
    let (a, mut d) = ([1.0f32; 4], [[0.0f32; 4]; 2]);
    let array = Arguments::array((2, 2, 2), [&a, &a], [&a, &a], &mut d).expect("an array");
    let told = Gemm::<f32>::new().run(array.gather_a(&[0, 1])).message();
    assert_eq!(
        told,
        "an index list is not supported by pointer arrays (the GEMMs would share one list); use a batch, or a call per GEMM"
    );
}

/// The passed matrix has the rows of its view, or as many as its memory holds, in each layout.
#[test]
fn rows_of_a_matrix_follow_from_its_memory() {
    let columns = [1.0f32, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0];
    let (one, mut d) = ([1.0f32; 2], [0.0f32; 2]);
    // A packed column-major matrix of 4 x 2.
    let gemm = Gemm::<f32, ColMajor>::new();
    gemm.run(Arguments::new((2, 1, 2), &columns, &one, &mut d).gather_a(&[3, 0])).expect("a run");
    assert_eq!(d, [44.0, 11.0]);
    // A view of the first three rows has no row 3.
    let view = MatRef::col_major(&columns, (4, 2)).rows(..3).expect("rows");
    let told = gemm.run(Arguments::new((2, 1, 2), view, &one, &mut d).gather_a(&[0, 3])).message();
    assert_eq!(told, "index 1 of A = 3 is outside 0 to 2; try 2");
    // A leading dimension of 3 leaves three rows.
    let arguments = Arguments::new((2, 1, 2), &columns, &one, &mut d).lda(3);
    let told = gemm.run(arguments.gather_a(&[2, 3])).message();
    assert_eq!(told, "index 1 of A = 3 is outside 0 to 2; try 2");
    // Two matrices of a batch have two rows each.
    let mut batch = [0.0f32; 2];
    let arguments = Arguments::new((1, 1, 2), &columns, &one, &mut batch).batch(2);
    Gemm::<f32>::new().run(arguments.batch_stride_b(0).gather_a(&[1])).expect("a run");
    assert_eq!(batch, [7.0, 70.0]);
}

/// Groups of tokens: gathered rows of A, one B per group, and scattered rows of D.
#[test]
fn groups_gather_and_scatter_rows() {
    let tokens = [1.0f32, 2.0, 3.0];
    let (experts, mut d) = ([10.0f32, 100.0], [7.0f32; 5]);
    let gemm = Gemm::<f32>::new();
    let arguments = Arguments::new((4, 1, 1), &tokens, &experts, &mut d).groups(&[0, 3, 4]);
    gemm.run(arguments.gather_a(&[2, 0, 2, 1]).scatter_d(&[4, 0, 1, 3])).expect("a run");
    assert_eq!(d, [10.0, 30.0, 7.0, 200.0, 30.0]);
}

/// All groups along K share the lists: of rows of A, of columns of B, and of rows of each D.
#[test]
fn groups_along_k_share_index_lists() {
    let a = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    let (b, mut d) = ([0.0f32, 1.0, 0.0, 10.0, 0.0, 100.0], [7.0f32; 6]);
    let gemm = Gemm::<f32>::new();
    let arguments = Arguments::new((2, 1, 3), &a, &b, &mut d).groups_k(&[0, 2, 3]);
    gemm.run(arguments.gather_a(&[2, 0]).gather_b(&[1]).scatter_d(&[0, 2])).expect("a run");
    assert_eq!(d, [87.0, 7.0, 21.0, 900.0, 7.0, 300.0]);
}

#[test]
fn accumulators_without_a_row_are_not_stored() {
    let (a, b, mut d) = ([1.0f32; 4], [1.0f32; 4], [7.0f32; 4]);
    let gemm = Gemm::<f32>::new();
    gemm.run(Arguments::new((0, 2, 2), &a, &b, &mut d).scatter_d(&[])).expect("a run");
    assert_eq!(d, [7.0; 4]);
}

/// A permuted D, A, and B equal the reshaped tensors, and splits that do not fit are refused.
#[test]
fn split_views_are_permuted_tensors() {
    let (batch, tokens, heads, features) = (2usize, 3, 2, 4);
    let (m, n, k) = (batch * tokens, heads * features, 2);
    let number = |i: usize| (i * 7 % 23) as f32 - 9.0;
    let (a, b): (Vec<f32>, Vec<f32>) =
        ((0..m * k).map(number).collect(), (0..k * n).map(number).collect());
    let mut plain = vec![0.0f32; m * n];
    falchion::gemm(
        MatRef::new(&a, (m, k)),
        MatRef::new(&b, (k, n)),
        MatMut::new(&mut plain, (m, n)),
    )
    .expect("a run");
    let permuted = |d: &mut [f32], outer: usize| {
        let view = MatMut::new(d, (m, n)).strides(features as isize, 1);
        let view = view.split_rows(tokens, outer).split_columns(features, tokens * features);
        falchion::gemm(MatRef::new(&a, (m, k)), MatRef::new(&b, (k, n)), view)
    };
    let mut d = vec![f32::NAN; m * n];
    permuted(&mut d, heads * tokens * features).expect("a run");
    let place = |row: usize, column: usize| {
        let (group, token) = (row / tokens, row % tokens);
        let (head, feature) = (column / features, column % features);
        ((group * heads + head) * tokens + token) * features + feature
    };
    for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
        assert_eq!(d[place(row, column)], plain[row * n + column], "{row} {column}");
    }
    // The permuted D is an A of the next GEMM, times the identity.
    let identity: Vec<f32> = (0..n * n).map(|i| f32::from(u8::from(i / n == i % n))).collect();
    let mut copied = vec![0.0f32; m * n];
    let view = MatRef::new(&d, (m, n)).strides(features as isize, 1);
    let view = view
        .split_rows(tokens, heads * tokens * features)
        .split_columns(features, tokens * features);
    let into = MatMut::new(&mut copied, (m, n));
    falchion::gemm(view, MatRef::new(&identity, (n, n)), into).expect("a run");
    assert_eq!(copied, plain);
    let told = permuted(&mut vec![0.0; m * n], 8).message();
    assert_eq!(
        told,
        "strides of D = 4 and 1 place two elements at one address; let one stride exceed the reach of the other"
    );
    let told = view.rows(1..3).err().map(|refusal| refusal.to_string());
    assert_eq!(told.as_deref(), Some("rows of a view = 1 is not a multiple of 3; try 3"));
    let told = Gemm::<f32>::new()
        .run(Arguments::new((2, n, n), view, &identity, &mut copied).gather_a(&[0, 1]))
        .message();
    assert_eq!(
        told,
        "split of A is not supported by an index list (the list gives each line its own place); state the places in the list"
    );
}
