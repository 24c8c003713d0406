//! Every refusal of a transpose on the host: the message names the operand, the value, and the
//! limit, and a suggested value is valid. Unusual but valid calls are computed.
//!
//! Overlapping memory is possible only on devices, because safe host code cannot create it.
//! `src/cuda/pass.rs` tests it.

use crate::harness::{prelude::*, transposes::scalars};

const BOTH: [Mode; 2] = [Mode::Fast, Mode::Checked { seed: 5 }];

/// Elements that a kernel moves, and elements that it scales.
const MOVED: ElementKind = ElementKind::I32;
const SCALED: ElementKind = ElementKind::F32;

/// Returns the sentence of a problem's refusal.
fn refused(kind: ElementKind, problem: &Problem) -> String {
    let desc = Choice::Auto.desc(kind, problem);
    assert_eq!(desc.check(), Ok(()));
    desc.enter(*problem).expect_err("refused").to_string()
}

fn fits(kind: ElementKind, problem: &Problem) -> bool {
    Choice::Auto.desc(kind, problem).enter(*problem).is_ok()
}

fn poisoned(kind: ElementKind, choice: Choice, problem: &Problem) -> Result<HostProduct, Error> {
    HostProduct::poisoned_transpose(kind, &choice.desc(kind, problem), problem)
}

#[test]
fn leading_dimensions_below_the_extent_are_refused() {
    fn with(a: usize, c: usize, d: usize) -> Problem {
        let packed = Problem::packed_transpose(5, 7);
        Problem {
            a: View { strides: [1, a], ..packed.a },
            c: Source::Matrix(View { strides: [c, 1], ..packed.d }),
            d: View { strides: [d, 1], ..packed.d },
            scalars: scalars([1.0, 1.0]),
            ..packed
        }
    }
    for (problem, said) in [
        (with(6, 5, 5), "leading dimension of A = 6 is less than 7 (number of columns); try 7"),
        (with(7, 4, 5), "leading dimension of C = 4 is less than 5 (number of columns); try 5"),
        (with(7, 5, 0), "leading dimension of D = 0 is less than 5 (number of columns); try 5"),
    ] {
        assert_eq!(refused(SCALED, &problem), said);
    }
    assert!(fits(SCALED, &with(7, 5, 5)));
}

/// Matrices are row-major. The transpose of column-major matrices equals that of the same bytes
/// with rows and columns swapped.
#[test]
fn matrices_of_another_order_are_refused() {
    let packed = Problem::packed_transpose(5, 7);
    let c = Source::Matrix(packed.d.transposed());
    for (problem, said) in [
        (
            Problem { a: packed.a.transposed(), ..packed },
            "strides of A = 1 and 7 are not row-major (the stride between columns must be 1)",
        ),
        (
            Problem { d: packed.d.transposed(), ..packed },
            "strides of D = 1 and 5 are not row-major (the stride between columns must be 1)",
        ),
        (
            Problem { c, scalars: scalars([1.0, 1.0]), ..packed },
            "strides of C = 1 and 5 are not row-major (the stride between columns must be 1)",
        ),
        (
            Problem { a: View { strides: [2, 14], ..packed.a }, ..packed },
            "strides of A = 14 and 2 are not contiguous (one of the strides must be 1)",
        ),
    ] {
        let sentence = refused(SCALED, &problem);
        assert_eq!(sentence, said);
    }
}

#[test]
fn memory_that_is_too_short_is_refused() {
    let long = Problem::packed_transpose(5, 7);
    let short = |matrix: View<Elements>| matrix.with(Elements::new(matrix.memory.length - 1));
    let c = Source::Matrix(short(long.d));
    for (problem, said) in [
        (
            Problem { a: short(long.a), ..long },
            "length of A = 34 elements is less than 35 elements (5 x 7, leading dimension 7)",
        ),
        (
            Problem { d: short(long.d), ..long },
            "length of D = 34 elements is less than 35 elements (7 x 5, leading dimension 5)",
        ),
        (
            Problem { c, scalars: scalars([1.0, 1.0]), ..long },
            "length of C = 34 elements is less than 35 elements (7 x 5, leading dimension 5)",
        ),
    ] {
        assert_eq!(refused(SCALED, &problem), said);
    }
    // The last row of the last matrix may be shorter than the pitch, and the last matrix shorter
    // than its stride.
    let gaps = View::new(Elements::new(60 + 4 * 10 + 7), Order::Col, 10).batched(60);
    let two = long.d.with(Elements::new(70));
    assert!(fits(MOVED, &Problem { batch: 2, a: gaps, d: two, ..long }));
    let one_less = Problem { batch: 2, a: short(gaps), d: two, ..long };
    assert_eq!(
        refused(MOVED, &one_less),
        "length of A = 106 elements is less than 107 elements (5 x 7, leading dimension 10, batch of 2, batch stride 60)"
    );
    // Operands that are not read are not checked.
    assert!(fits(
        SCALED,
        &Problem { scalars: scalars([0.0, 0.0]), a: long.a.with(Elements::new(0)), ..long }
    ));
    assert!(fits(SCALED, &Problem { c: Source::Matrix(long.d.with(Elements::new(0))), ..long }));
}

#[test]
fn overlapping_matrices_of_a_batch_are_refused() {
    fn strided(leading: usize, stride: usize) -> Problem {
        let packed = Problem::packed_transpose(5, 7);
        let d = View::new(Elements::new(1000), Order::Row, leading).batched(stride);
        Problem { batch: 3, a: packed.a.batched(0), d, ..packed }
    }
    // Three interleaved rows of 5 elements: a pitch of 15 is valid, and 14 is not.
    assert!(fits(MOVED, &strided(15, 5)) && fits(MOVED, &strided(5, 35)));
    for (leading, stride, nearest) in
        [(14, 5, 89), (15, 4, 95), (5, 34, 35), (5, 0, 35), (6, 40, 41)]
    {
        let said = refused(MOVED, &strided(leading, stride));
        assert_eq!(
            said,
            format!(
                "batch stride of D = {stride} is less than {nearest} (matrices of the batch overlap); try {nearest}"
            )
        );
        assert!(fits(MOVED, &strided(leading, nearest)), "{nearest}");
    }
}

#[test]
fn too_large_problems_are_refused() {
    let huge = |rows: usize, columns: usize| {
        let problem = Problem::packed_transpose(rows, columns);
        let long = |matrix: View<Elements>| matrix.with(Elements::ALL);
        Problem { a: long(problem.a), d: long(problem.d), ..problem }
    };
    // More than 2^31 elements are valid.
    assert!(fits(MOVED, &huge(1 << 16, 1 << 16)));
    assert!(fits(MOVED, &huge(i32::MAX as usize, 1)));
    for (problem, said) in [
        (huge(1 << 31, 1), "number of rows = 2147483648 exceeds 2147483647"),
        (huge(1, usize::MAX), "number of columns = 18446744073709551615 exceeds 2147483647"),
        (
            huge(1 << 29, 1 << 27),
            " exceeds 2147483647 (thread blocks of a grid); use a larger tile",
        ),
        (Problem { batch: 1 << 40, ..huge(0, 7) }, ""),
        (
            Problem { a: View { strides: [1, usize::MAX], ..huge(9, 9).a }, ..huge(9, 9) },
            "size of A exceeds 64 bits (9 x 9, leading dimension 18446744073709551615)",
        ),
        (
            Problem { batch: 1 << 60, ..huge(9, 9) },
            "size of D exceeds 64 bits (9 x 9, leading dimension 9, batch of 1152921504606846976, batch stride 81)",
        ),
        (
            Problem { batch: 1 << 33, ..huge(1, 1) },
            "number of tiles = 8589934592 exceeds 2147483647 (thread blocks of a grid)",
        ),
    ] {
        if said.is_empty() {
            assert!(fits(MOVED, &problem));
            continue;
        }
        let sentence = refused(MOVED, &problem);
        assert!(sentence.contains(said), "{sentence}");
    }
    let refused = |problem: &Problem| match poisoned(ElementKind::F64, Choice::Auto, problem) {
        Err(Error::Refused(refusal)) => refusal.to_string(),
        other => panic!("{other:?}"),
    };
    let said = refused(&Problem::packed_transpose(1 << 20, 1 << 20));
    assert!(
        said.starts_with("host memory = 17592186044416 bytes exceeds ")
            && said.ends_with("use a smaller problem"),
        "{said}"
    );
    // A matrix that is not read is not checked, and its size is not used.
    let unread = Problem::transpose((4, 4), 1, [Some(1 << 61), None, None], [0.0, 1.0]);
    assert!(refused(&unread).starts_with("host memory = "));
}

#[test]
fn unsupported_scalars_and_missing_operands_are_refused() {
    let packed = Problem::packed_transpose(5, 7);
    let sentence = |scalar: &str| {
        format!(
            "scalar {scalar} is not supported by a kernel that moves elements; use a kernel that combines in f32 or f64"
        )
    };
    let c = Source::Matrix(packed.d);
    for (problem, scalar) in [
        (Problem { scalars: scalars([2.0, 0.0]), ..packed }, "alpha"),
        (Problem { scalars: scalars([0.0, 0.0]), ..packed }, "alpha"),
        (Problem { scalars: scalars([f64::NAN, 0.0]), ..packed }, "alpha"),
        (Problem { scalars: scalars([1.0, 1.0]), c, ..packed }, "beta"),
        (Problem { scalars: scalars([2.0, f64::NAN]), c, ..packed }, "beta"),
    ] {
        assert_eq!(refused(MOVED, &problem), sentence(scalar));
    }
    let missing = refused(SCALED, &Problem { scalars: scalars([1.0, 1.0]), ..packed });
    assert_eq!(missing, "C is missing (the kernel reads it)");
    for kind in [
        ElementKind::I8,
        ElementKind::U8,
        ElementKind::I32,
        ElementKind::F16,
        ElementKind::Bf16,
        ElementKind::E4m3,
        ElementKind::E5m2,
    ] {
        assert_eq!(Combine::for_scalars(kind, &scalars([2.0, 0.0])), Combine::Move);
        let refused =
            poisoned(kind, Choice::Auto, &Problem::transpose((2, 2), 1, [None; 3], [2.0, 0.0]));
        assert_eq!(
            refused.map(|_| ()).expect_err("refused").to_string(),
            sentence("alpha"),
            "{kind}"
        );
    }
}

#[test]
fn elements_of_other_types_are_refused() {
    let (problem, a32, c64) = (Problem::packed_transpose(2, 3), [1.0f32; 6], [1.0f64; 6]);
    let refused = |choice: Choice, problem: &Problem, a, c| {
        let mut d = [0.0f32; 6];
        let call = problem.with_transposed(a, c, HostSliceMut::new::<f32>(&mut d));
        let desc = choice.desc(ElementKind::F32, problem);
        run_in_mode(&desc, Mode::Fast, call).expect_err("refused").to_string()
    };
    let (f32s, f64s) = (HostSlice::new::<f32>(&a32), HostSlice::new::<f64>(&c64));
    let i32s = HostSlice::new::<i32>(&[1; 6]);
    let scaled = Problem { scalars: scalars([1.0, 1.0]), c: Source::Matrix(problem.d), ..problem };
    let narrow = Choice::Desc(TransposeRung::Padded.desc(Combine::Move, 2));
    let (auto, none, of_c) = (Choice::Auto, Source::None, Source::Matrix(f64s));
    for (choice, problem, a, c, said) in [
        (auto, &problem, f64s, none, "element type of A = f64 is not f32"),
        (auto, &problem, i32s, none, "element type of A = i32 is not f32"),
        (auto, &scaled, f32s, of_c, "element type of C = f64 is not f32"),
        (narrow, &problem, f32s, none, "element type of the tensor = f32 is not 2 bytes"),
    ] {
        assert_eq!(refused(choice, problem, a, c), said);
    }
}

/// The typed interface refuses the same calls as the run-time one, before anything is written.
#[test]
fn typed_calls_are_refused_before_they_write() {
    let (a, b, mut d) = ([1.0f64; 12], [1.0f64; 11], [7.0f64; 12]);
    let transpose = Transpose::<f64>::new();
    let arguments = Arguments::transpose((3, 4), &a, &mut d).source(1.0, &b);
    assert!(matches!(
        transpose.can_implement(&arguments),
        Err(Refusal {
            rule: Rule::AtLeast,
            field: Field::Length(Operand::C),
            value: Value::Elements(11),
            limit: Value::Elements(12),
            ..
        })
    ));
    let refused = transpose.run(arguments).message();
    let said = "length of C = 11 elements is less than 12 elements (4 x 3, leading dimension 3)";
    assert_eq!(refused, said);
    let refused = transpose.run(Arguments::transpose((3, 4), &a, &mut d).lda(3)).message();
    assert_eq!(refused, "leading dimension of A = 3 is less than 4 (number of columns); try 4");
    let two = Arguments::transpose((3, 4), &a, &mut d).batch(2).batch_stride_a(0);
    assert_eq!(
        transpose.run(two).message(),
        "length of D = 12 elements is less than 24 elements (4 x 3, leading dimension 3, batch of 2, batch stride 12)"
    );
    assert_eq!(d, [7.0; 12]);
}

#[test]
fn empty_problems_are_valid() {
    for (rows, columns, batch) in
        [(0, 0, 1), (0, 5, 1), (5, 0, 1), (5, 5, 0), (0, usize::from(u16::MAX), 7)]
    {
        for mode in BOTH {
            let problem = Problem::transpose((rows, columns), batch, [None; 3], [1.0, 0.0]);
            let mut transpose = poisoned(ElementKind::F32, Choice::Auto, &problem)
                .expect("an empty problem is valid");
            let desc = Choice::Auto.desc(ElementKind::F32, &problem);
            transpose.draw_transpose(1).expect("no random data");
            transpose.run_transpose(&desc, mode).expect("no work");
            let verdict = transpose.verify_transpose().expect("no elements to verify");
            assert!(verdict.is_right() && verdict.elements_checked == 0, "{verdict}");
        }
    }
    let mut d: [u8; 0] = [];
    Transpose::<u8>::new().run(Arguments::transpose((0, 9), &[][..], &mut d[..])).expect("no work");
}

/// With alpha = 0, NaN in A does not reach D, and with beta = 0, NaN in C does not. With both, D is
/// zero. With other scalars, NaN reaches D.
#[test]
fn nan_reaches_d_only_if_it_is_read() {
    macro_rules! ran {
        ($T:ty, $alpha:expr, $beta:expr) => {{
            let (a, b, mut d) = ([<$T>::NAN; 35], [1.0 as $T; 35], [<$T>::NAN; 35]);
            let arguments =
                Arguments::transpose((5, 7), &a, &mut d).alpha($alpha).source($beta, &b);
            Transpose::<$T>::new().run(arguments).expect("it runs");
            d
        }};
    }
    assert_eq!(ran!(f32, 0.0, 2.0), [2.0; 35]);
    assert_eq!(ran!(f64, 0.0, 2.0), [2.0; 35]);
    assert_eq!(ran!(f32, 0.0, 0.0), [0.0; 35]);
    assert!(ran!(f32, 1.0, 2.0).iter().all(|x| x.is_nan()));
    for mode in BOTH {
        let packed = Problem::packed_transpose(5, 7);
        let (ones, nans, mut d) = ([1.0f32; 35], [f32::NAN; 35], [f32::NAN; 35]);
        let problem =
            Problem { scalars: scalars([3.0, 0.0]), c: Source::Matrix(packed.d), ..packed };
        let run = |problem: &Problem, a: &[f32], c, d: &mut [f32]| {
            let (a, d) = (HostSlice::new::<f32>(a), HostSliceMut::new::<f32>(d));
            let desc = Choice::Auto.desc(ElementKind::F32, problem);
            run_in_mode(&desc, mode, problem.with_transposed(a, c, d)).expect("it runs");
        };
        run(&problem, &ones, Source::Matrix(HostSlice::new::<f32>(&nans)), &mut d);
        assert_eq!(d, [3.0; 35]);
        // A NaN that is only moved keeps its bits.
        let odd = f32::from_bits(0x7fa0_1234);
        let (a, mut d) = ([odd; 35], [0.0f32; 35]);
        run(&packed, &a, Source::None, &mut d);
        assert!(d.iter().all(|x| x.to_bits() == 0x7fa0_1234));
    }
}

/// Refusals of descriptions, and the field of the suggested value, if any.
#[test]
fn transpose_refusals_suggest_a_valid_value() {
    type Set = fn(&mut TransposeDesc, u32);
    let none: Option<Set> = None;
    let padded = TransposeRung::Padded.desc(Combine::Move, 4);
    let gathered = TransposeDesc { staging: Staging::Gathered, ..padded };
    let swizzled = |bits, base, shift| TransposeDesc {
        staging: Staging::Swizzled { bits, base, shift },
        ..padded
    };
    #[rustfmt::skip]
    let rows: Vec<(TransposeDesc, &str, Option<Set>)> = vec![
        (TransposeDesc { element_bytes: 3, ..padded }, "bytes of an element = 3 is not one of 1, 2, 4, 8; try 4", Some(|d, x| d.element_bytes = x)),
        (TransposeDesc { element_bytes: 0, ..padded }, "bytes of an element = 0 is not one of 1, 2, 4, 8; try 1", Some(|d, x| d.element_bytes = x)),
        (TransposeDesc { combine: Combine::F64, ..padded }, "bytes of an element = 4 is not 8; try 8", Some(|d, x| d.element_bytes = x)),
        (TransposeDesc { access_a: 3, ..padded }, "access to A = 3 is not one of 1, 2, 4; try 4", Some(|d, x| d.access_a = x)),
        (TransposeDesc { thread_rows: 0, ..padded }, "rows of a thread = 0 is not one of 1, 2, 4; try 1", Some(|d, x| d.thread_rows = x)),
        (TransposeDesc { access_d: 8, ..padded }, "access to D = 8 is not one of 1, 2, 4; try 4", none),
        (TransposeDesc { combine: Combine::F32, ..gathered }, "gathered access to D is impossible (C needs gathered access too); use staging by padding, or swizzled staging", none),
        (TransposeDesc { lanes: Lanes::Across, ..gathered }, "gathered access to D is impossible (lanes run across the rows of D); use staging by padding, or swizzled staging", none),
        (TransposeDesc { thread_rows: 2, ..gathered }, "rows of a thread = 2 is not 1 (gathered access to D); try 1", Some(|d, x| d.thread_rows = x)),
        (TransposeDesc { rows: 64, threads: 32, ..gathered }, "threads of a block = 32 is not a multiple of 64 (tile columns); try 64", Some(|d, x| d.threads = x)),
        (TransposeDesc { rows: 1024, ..padded }, "rows of a tile = 1024 is outside 1 to 512; try 512", none),
        (TransposeDesc { columns: 0, ..padded }, "columns of a tile = 0 is outside 1 to 512; try 1", none),
        (TransposeDesc { threads: 16, ..padded }, "threads of a block = 16 is outside 32 to 1024; try 32", Some(|d, x| d.threads = x)),
        (TransposeDesc { order: SwizzleKind::Identity(65), ..padded }, "group size = 65 is outside 1 to 64; try 64", Some(|d, x| d.order = SwizzleKind::Identity(x))),
        (TransposeDesc { threads: 48, ..padded }, "threads of a block = 48 is not a multiple of 32 (warps); try 64", Some(|d, x| d.threads = x)),
        (TransposeDesc { rows: 33, thread_rows: 2, staging: Staging::Padded(2), ..padded }, "rows of a tile = 33 is not a multiple of 2 (rows of a thread); try 34", none),
        (TransposeDesc { threads: 96, ..padded }, "pieces of A in a tile = 1024 is not a multiple of 96 (blocks of threads); try 1056", none),
        (TransposeDesc { rows: 96, columns: 32, threads: 64, ..padded }, "threads of a block = 64 is not a multiple of 96 (lines of pieces); try 96", Some(|d, x| d.threads = x)),
        (TransposeDesc { staging: Staging::Direct, thread_rows: 2, ..padded }, "access to D = 1 is not 2; try 2", Some(|d, x| d.access_d = x)),
        (TransposeDesc { staging: Staging::Padded(65), ..padded }, "padding = 65 is outside 0 to 64; try 64", Some(|d, x| d.staging = Staging::Padded(x))),
        (swizzled(0, 0, 0), "swizzle bits = 0 is outside 1 to 5; try 1", Some(|d, x| d.staging = Staging::Swizzled { bits: x, base: 0, shift: 0 })),
        (swizzled(1, 6, 0), "swizzle base = 6 is outside 0 to 5; try 5", none),
        (swizzled(1, 0, 9), "swizzle shift = 9 is outside 0 to 8; try 8", Some(|d, x| d.staging = Staging::Swizzled { bits: 1, base: 0, shift: x })),
        (swizzled(4, 2, 0), "swizzle block of the tile = 64 elements does not divide 32 elements (row of the tile)", none),
        (TransposeDesc { thread_rows: 2, threads: 128, ..padded }, "rows of a thread = 2 exceeds 1 element (adjacent elements in shared memory); try 1", Some(|d, x| d.thread_rows = x)),
        (TransposeDesc { access_d: 2, threads: 128, ..padded }, "access to D = 2 exceeds 1 element (adjacent elements in shared memory); try 1", Some(|d, x| d.access_d = x)),
        (TransposeDesc { rows: 128, columns: 128, threads: 32, blocks_per_sm: 1, ..padded }, "reads of a thread = 512 is outside 1 to 32; try 32", none),
        (TransposeDesc { blocks_per_sm: 0, ..padded }, "blocks of a multiprocessor = 0 is outside 1 to 32; try 1", Some(|d, x| d.blocks_per_sm = x)),
        (TransposeDesc { blocks_per_sm: 16, ..padded }, "threads of a multiprocessor = 4096 is outside 32 to 2048; try 2048", none),
        (TransposeDesc { rows: 128, columns: 128, threads: 512, access_a: 4, thread_rows: 4, access_d: 4, staging: Staging::Padded(4), blocks_per_sm: 4, ..padded }, "registers per thread = 64 exceeds 32 (512 threads per block, 4 blocks per multiprocessor); use a smaller warp tile, fewer blocks_per_sm, or spills = allowed", none),
        (TransposeDesc { rows: 64, columns: 512, threads: 1024, staging: Staging::Padded(64), blocks_per_sm: 1, ..padded }, "shared memory of a block = 262144 bytes exceeds 232448 bytes (1 stages of 262144; sm_90 with 1 block per multiprocessor); use a smaller threadblock tile", none),
    ];
    for (desc, wanted, set) in rows {
        let refusal = desc.check().expect_err(wanted);
        let sentence = refusal.to_string();
        assert_eq!(sentence, wanted);
        // The run-time interface refuses descriptions that it cannot narrow to a kernel.
        let problem = Problem::packed_transpose(64, 64);
        let narrowed = Choice::Desc(desc).desc(SCALED, &problem).check();
        let door = poisoned(ElementKind::F32, Choice::Desc(desc), &problem).map(|_| ());
        assert_eq!(door.is_ok(), narrowed.is_ok(), "{sentence} {door:?}");
        if let Some(set) = set {
            let nearest =
                sentence.rsplit("try ").next().expect("a number").parse().expect("a number");
            let mut advised = desc;
            set(&mut advised, nearest);
            let after = advised.check();
            assert!(after != Err(refusal), "{sentence} {after:?}");
        }
    }
}
