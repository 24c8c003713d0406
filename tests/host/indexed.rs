//! Index lists on the host: gathered rows of A, gathered columns of B, and scattered rows of D.

use crate::harness::{
    indexed::{IndexedCase, Memory, descriptions},
    prelude::*,
};
use falchion::{
    device::{Host, Space},
    internals::operand::Indices,
};

/// Runs a problem with index lists on some memory.
fn run(
    (desc, mode): (&GemmDesc, Mode),
    case: &IndexedCase,
    problem: &Problem,
    memory: &mut Memory,
) -> Result<(), Error> {
    let types = desc.user_types();
    let Memory { a, b, c, d, operands } = memory;
    let matrices = HostMatrices {
        a: Host::read(types.a, &a[..], &()),
        b: Host::read(types.b, &b[..], &()),
        c: problem.c.map(|_| Host::read(types.c, &c[..], &())),
        d: Host::write(types.c, &mut d[..], &()),
        operands: operands
            .as_ref()
            .map(|name, bytes| Host::read(case.element(name), &bytes[..], &())),
    };
    let lists = case.lists.each_ref().map(|list| {
        let list = list.as_deref()?;
        Some(HostSlice::new::<i32>(bytemuck::cast_slice(list)))
    });
    let [of_a, of_b, of_d] = lists;
    let Indices { operands: [a, b], output } = problem.indices;
    let indices = Indices {
        operands: [a.zip(of_a), b.zip(of_b)]
            .map(|list| list.map(|(list, memory)| list.with(memory))),
        output: output.zip(of_d).map(|((axis, list), memory)| (axis, list.with(memory))),
    };
    run_in_mode(desc, mode, HostCall { indices, ..problem.with(matrices) })
}

/// Compares a call with index lists with the plain call on copies, bit by bit.
fn compare(desc: &GemmDesc, seed: u64, mode: Mode) {
    let case = IndexedCase::random(desc, seed);
    let mut memory = case.memory.clone();
    run((desc, mode), &case, &case.problem, &mut memory)
        .unwrap_or_else(|error| panic!("{error}\n{desc:?} {:?}", case.problem));
    let (plain, mut copies) = case.plain(desc);
    run((desc, mode), &case, &plain, &mut copies)
        .unwrap_or_else(|error| panic!("{error}\n{desc:?} {plain:?}"));
    let wanted = case.scattered((&plain, &copies.d));
    assert!(memory.d == wanted, "{seed}: {desc:?} {:?}", case.problem);
}

#[test]
fn indexed_calls_equal_plain_calls_on_copies() {
    for (seed, desc) in descriptions(0x6a11, 160) {
        compare(&desc, draw(0x6a12, seed), Mode::Fast);
    }
}

#[test]
fn indexed_calls_equal_plain_calls_on_the_checked_machine() {
    for (seed, desc) in descriptions(0x6a13, 12) {
        compare(&desc, draw(0x6a14, seed), Mode::Checked { seed });
    }
}

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

#[test]
fn accumulators_without_a_row_are_not_stored() {
    let (a, b, mut d) = ([1.0f32; 4], [1.0f32; 4], [7.0f32; 4]);
    let gemm = Gemm::<f32>::new();
    gemm.run(Arguments::new((0, 2, 2), &a, &b, &mut d).scatter_d(&[])).expect("a run");
    assert_eq!(d, [7.0; 4]);
}
