//! Grouped GEMM along K on the host: each group has its own D, empty groups write D, and elements
//! outside a group do not change its D.

use super::groups::run;
use crate::harness::{
    groups::{largest, whole},
    groups_k::{IntegersAlongK, groups_along_k},
    integers::Data,
    prelude::*,
};

/// Returns random descriptions that compute groups along K.
fn random_descriptions(
    seed: u64,
    kernel_kind: KernelKind,
    plain: bool,
) -> impl Iterator<Item = (GemmDesc, u64)> {
    let largest_tile = largest(kernel_kind);
    let wanted = Wanted { kernel_kind, largest_tile, plain, ..Wanted::default() };
    let all = (0..).map(move |i| (whole(description(draw(seed, i), wanted)), draw(seed + 1, i)));
    all.filter(|(desc, _)| groups_along_k(desc))
}

/// Compares groups with exact sums in one mode.
fn compare_integers(desc: &GemmDesc, seed: u64, mode: Mode) {
    let mut case = IntegersAlongK::random(desc, seed);
    let mut d = std::mem::replace(&mut case.d, Data::new(desc.output.element, [].into_iter()));
    let call = || -> Result<(), Error> {
        let matrices = HostMatrices {
            a: case.a.slice(),
            b: case.b.slice(),
            c: case.problem.c.map(|_| case.c.slice()),
            d: d.slice_mut(),
            operands: EpilogueOperands::NONE,
        };
        let offsets = HostSlice::new::<i32>(bytemuck::cast_slice(&case.offsets));
        let groups = Some(Groups::new(Axis::K, offsets));
        run_in_mode(desc, mode, HostCall { groups, ..case.problem.with(matrices) })
    };
    let mut call = call;
    call().unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    if let Some(wrong) = case.wrong(&d) {
        panic!("{seed}: {wrong}: {:?} {:?}\n{desc:?}", case.offsets, case.problem);
    }
}

#[test]
fn groups_along_k_have_exact_sums() {
    for &kernel_kind in KernelKind::ALL {
        for (desc, seed) in random_descriptions(91, kernel_kind, true).take(40) {
            compare_integers(&desc, seed, Mode::Fast);
        }
        for (desc, seed) in random_descriptions(93, kernel_kind, true).take(3) {
            compare_integers(&desc, seed, Mode::Checked { seed });
        }
    }
}

/// Compares grouped GEMM along K with separate GEMMs in one mode.
fn compare_bits(desc: &GemmDesc, seed: u64, mode: Mode) {
    let case = Grouped::random_along_k(desc, seed);
    let (mut together, mut alone) = (case.d.clone(), case.d.clone());
    run(desc, mode, &case, (&case.problem, [0; 4], 0), &mut together)
        .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    for SeparateGemm { problem, first, row } in case.separate_gemms_along_k() {
        run(desc, mode, &case, (&problem, first, row), &mut alone)
            .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    }
    assert!(together == alone && together != case.d, "{seed}: {desc:?}");
}

#[test]
fn groups_along_k_equal_separate_gemms() {
    for &kernel_kind in KernelKind::ALL {
        for (desc, seed) in random_descriptions(95, kernel_kind, false).take(12) {
            compare_bits(&desc, seed, Mode::Fast);
        }
        for (desc, seed) in random_descriptions(97, kernel_kind, false).take(2) {
            compare_bits(&desc, seed, Mode::Checked { seed });
        }
    }
}

type Weights = Gemm<Bf16, ColMajor, Bf16, RowMajor, f32, RowMajor, f32, TensorOp, Sm90>;

/// Returns A and B of small integers. A has `m` values per token, and B has `n`.
fn tokens(m: usize, n: usize, k: usize) -> [Vec<Bf16>; 2] {
    [(m * k, 5), (n * k, 7)]
        .map(|(count, of)| (0..count).map(|i| Bf16::from_f32((i % of) as f32 - 2.0)).collect())
}

/// Returns `A * B` over some tokens, from the value `from` on.
fn sum(
    [a, b]: &[Vec<Bf16>; 2],
    (m, n): (usize, usize),
    depth: core::ops::Range<usize>,
) -> Vec<f32> {
    let element = |at: usize| {
        let products =
            depth.clone().map(|l| a[l * m + at / n].to_f32() * b[l * n + at % n].to_f32());
        products.sum()
    };
    (0..m * n).map(element).collect()
}

/// Empty groups write beta * C, or zeros. A single group equals a plain GEMM.
#[test]
fn empty_groups_write_the_epilogue_of_zero() {
    let (m, n, k) = (3, 4, 70);
    let operands = tokens(m, n, k);
    let [a, b] = &operands;
    let offsets = [0u32, 0, 33, 33, 70, 70];
    let c: Vec<f32> = (0..5 * m * n).map(|i| i as f32).collect();
    let wanted = |beta: f32, alpha: f32| -> Vec<f32> {
        let all = offsets.windows(2).enumerate().flat_map(|(group, ends)| {
            let sums = sum(&operands, (m, n), ends[0] as usize..ends[1] as usize);
            sums.into_iter().enumerate().map(move |(i, x)| (group * m * n + i, x))
        });
        all.map(|(i, x)| alpha * x + beta * i as f32).collect()
    };
    let mut d = vec![f32::NAN; 5 * m * n];
    let arguments = Arguments::new((m, n, k), a, b, &mut d);
    Weights::new().run(arguments.groups_k(&offsets)).expect("zeros");
    assert_eq!(d, wanted(0.0, 1.0));
    d.fill(f32::NAN);
    let arguments = Arguments::new((m, n, k), a, b, &mut d).source(2.0, &c);
    Weights::new().run(arguments.groups_k(&offsets)).expect("C of each group");
    assert_eq!(d, wanted(2.0, 1.0));
    d.copy_from_slice(&c);
    let arguments = Arguments::new((m, n, k), a, b, &mut d).in_place(2.0);
    Weights::new().run(arguments.groups_k(&offsets)).expect("in place");
    assert_eq!(d, wanted(2.0, 1.0));
    // Without an accumulator, A and B are not read.
    let arguments = Arguments::new((m, n, k), &a[..1], &b[..1], &mut d).alpha(0.0).source(3.0, &c);
    Weights::new().run(arguments.groups_k(&offsets)).expect("no product");
    assert_eq!(d, wanted(3.0, 0.0));
    // A C without a stride serves all groups, and K may be 0.
    let arguments = Arguments::new((m, n, 0), &a[..0], &b[..0], &mut d).source(1.0, &c[..m * n]);
    let arguments = arguments.batch_stride_c(0).groups_k(&[0; 6]);
    Weights::new().run(arguments).expect("no K");
    assert!(d.iter().enumerate().all(|(i, &x)| x == (i % (m * n)) as f32), "{d:?}");

    let (mut one, mut plain) = (vec![f32::NAN; m * n], vec![f32::NAN; m * n]);
    Weights::new()
        .run(Arguments::new((m, n, k), a, b, &mut one).groups_k(&[0, 70]))
        .expect("one group");
    Weights::new().run(Arguments::new((m, n, k), a, b, &mut plain)).expect("a plain GEMM");
    assert_eq!(one, plain);
    for offsets in [&[][..], &[3]] {
        one.fill(7.0);
        let arguments = Arguments::new((m, n, k), a, b, &mut one).groups_k(offsets);
        Weights::new().run(arguments).expect("no group");
        assert!(one.iter().all(|&x| x == 7.0));
    }
}

/// All ways to pass offsets have the same bits and refusals.
#[test]
fn offsets_along_k_in_all_memories_give_the_same_bits() {
    let (m, n, k) = (3, 4, 70);
    let [a, b] = &tokens(m, n, k);
    let ran = |given: usize, offsets: &[u32]| {
        let mut d = vec![7.0f32; 4 * m * n];
        let arguments = Arguments::new((m, n, k), a, b, &mut d);
        let arguments = match given {
            0 => arguments.groups_k(offsets),
            1 => arguments.groups_k_by_value(offsets),
            _ => arguments.groups_k_checked(offsets),
        };
        Weights::new().run(arguments).map_err(|error| error.to_string()).map(|()| d)
    };
    for offsets in [&[0, 2, 2, 70][..], &[1, 3, 3, 5, 6], &[70; 4], &[0, 70], &[], &[3]] {
        let ran = [0, 1, 2].map(|given| ran(given, offsets));
        assert!(ran[0].is_ok() && ran.iter().all(|one| *one == ran[0]), "{offsets:?}: {ran:?}");
    }
    for (offsets, said) in [
        (&[0, 5, 3, 8][..], "offset 2 of the groups = 3 is outside 5 to 70; try 5"),
        (&[0, 5, 71], "offset 2 of the groups = 71 is outside 5 to 70; try 70"),
        (&[71, 71], "offset 0 of the groups = 71 is outside 0 to 70; try 70"),
        (
            &[0, 1, 2, 3, 4, 5],
            "length of D = 48 elements is less than 60 elements (3 x 4, leading dimension 4, batch of 5, batch stride 12)",
        ),
    ] {
        let told = [0, 1, 2].map(|given| ran(given, offsets).expect_err("bad offsets"));
        assert!(told.iter().all(|one| one == said), "{offsets:?}: {told:?}");
    }
}

/// Calls that no kernel computes are refused, and D does not change.
#[test]
fn groups_along_k_that_no_kernel_computes_are_refused() {
    let (m, n, k) = (3, 4, 70);
    let [a, b] = &tokens(m, n, k);
    let mut d = vec![7.0f32; 3 * m * n];
    macro_rules! of_groups {
        () => {
            Arguments::new((m, n, k), a, b, &mut d).groups_k(&[0, 9, 70])
        };
    }
    let overlap = Weights::new().run(of_groups!().batch_stride_d(11)).message();
    assert_eq!(
        overlap,
        "batch stride of D = 11 is less than 12 (matrices of the batch overlap); try 12"
    );
    let said = Weights::new().run(of_groups!().batch(2)).message();
    assert_eq!(said, "batch is not supported by grouped GEMM; do not set batch");
    let said = Weights::new().with::<SplitK<2>>().run(of_groups!()).message();
    assert_eq!(said, "split_k = 2 is not 1 (grouped GEMM keeps K whole); try 1");
    let streamed = but!(Weights::DESC, decomposition: DecompositionKind::StreamK);
    let refusal = streamed.for_groups(Axis::K).check().expect_err("streams");
    assert_eq!(refusal, Refusal::GROUPS_NOT_STREAMED);
    let rows = Arguments::new((m, n, k), a, &b[1..], &mut d).groups_k(&[0, 9, 70]);
    let said = Weights::new().run(rows).message();
    assert!(said.starts_with("length of B = 279 elements is less than 280 elements"), "{said}");
    assert!(d.iter().all(|&x| x == 7.0));
}

/// Each group has its own auxiliary matrix, and all groups share a vector.
#[test]
fn groups_along_k_have_their_own_auxiliary_matrices() {
    use falchion::epilogue::Aux;
    type Sum = EpilogueTree<Add<Add<Acc, BiasN<f32>>, Aux<1, f32>>>;
    let (m, n, k) = (3, 4, 70);
    let operands = tokens(m, n, k);
    let [a, b] = &operands;
    let (bias, aux) = ([1.0f32, 2.0, 3.0, 4.0], (0..2 * m * n).map(|i| i as f32));
    let (aux, mut d) = (aux.collect::<Vec<_>>(), vec![f32::NAN; 2 * m * n]);
    let gemm = Weights::new().with::<Sum>();
    let arguments = Arguments::new((m, n, k), a, b, &mut d).bias_n(&bias).aux::<1>(&aux);
    gemm.run(arguments.groups_k(&[5, 40, 70])).expect("a sum");
    let sums = [sum(&operands, (m, n), 5..40), sum(&operands, (m, n), 40..70)].concat();
    let wanted = sums.iter().enumerate().map(|(i, x)| x + bias[i % n] + aux[i]);
    assert_eq!(d, wanted.collect::<Vec<_>>());
}
