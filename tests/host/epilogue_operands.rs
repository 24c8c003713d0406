//! Vectors and auxiliary matrices of an epilogue, with element types and strides of their own.

use crate::harness::{
    case::Tally,
    conformance::judge_both,
    epilogue_operands::{descriptions, judge_on_host, math_functions, random_trees},
    prelude::*,
    problems,
    same_bits::{compare, run},
};
use falchion::{epilogue::Aux, layout::Layout};

/// The fast host gives the values of the reference, for every main loop and MMA.
#[test]
fn the_fast_host_reads_each_operand() {
    let tally = judge_on_host(&descriptions(0xa0c5, 160));
    assert!(tally.cases == 160 && tally.exact > tally.elements / 4, "{tally:?}");
    assert!(tally.largest > 0.02 && tally.largest <= 1.0, "{tally:?}");
}

/// The checked machine gives the bits of the fast mode.
#[test]
fn the_checked_machine_reads_each_operand() {
    descriptions(0xa0c6, 60).par_iter().for_each(|(seed, desc)| {
        let checked = |guarded: &Guarded, buffers: &Buffers, seed| {
            run(desc, Mode::Checked { seed }, guarded, buffers)
        };
        compare(desc, (0, *seed), false, &checked)
            .unwrap_or_else(|error| panic!("{error}\n  {desc:?}"));
    });
}

/// Mathematical functions have the values of the reference, and the bits of the checked machine.
#[test]
fn math_functions_conform_on_the_host() {
    let wanted = problems::Wanted { most_work: 400_000, aligned: false };
    math_functions(0xa0c8, 600).par_iter().for_each(|(seed, desc)| {
        judge_both(&OnHost(Mode::Fast), desc, &guarded(*seed, desc, wanted), (0, *seed));
        let checked = |guarded: &Guarded, buffers: &Buffers, seed| {
            run(desc, Mode::Checked { seed }, guarded, buffers)
        };
        compare(desc, (0, *seed), false, &checked)
            .unwrap_or_else(|error| panic!("{error}\n  {desc:?}"));
    });
}

/// Random trees have the values of the reference for every main loop and MMA.
#[test]
fn random_trees_conform_on_the_host() {
    let wanted = problems::Wanted { most_work: 100_000, aligned: false };
    let tally = random_trees(0xa0c9, 2000)
        .par_iter()
        .map(|(seed, desc)| {
            judge_both(&OnHost(Mode::Fast), desc, &guarded(*seed, desc, wanted), (0, *seed))
        })
        .reduce(Tally::default, Tally::and);
    assert!(tally.undecided < tally.elements / 10, "{tally:?}");
    assert!(tally.exact > tally.elements / 4 && tally.largest > 0.5, "{tally:?}");
}

const ROWS: [Order; 3] = [Order::Row; 3];

type Two = EpilogueTree<Add<Add<Acc, BiasN<f32>>, Aux<1, f32>>>;

/// Each GEMM of a batch reads its own matrix; a view has any strides; D may have either order.
#[test]
fn a_matrix_has_strides_of_its_own() {
    fn sums<LC: Layout>() -> Vec<f32> {
        let (a, b, bias) = ([Bf16::ONE; 12], [Bf16::ONE; 6], [10.0f32, 20.0, 30.0]);
        // The residual of row i and column j is element 2 j + 7 i.
        let residual: Vec<f32> = (0..14).map(|x| x as f32).collect();
        let mut d = vec![f32::NAN; 6];
        let gemm = HopperRows::<Bf16, f32, LC>::new().with::<Two>();
        let view = MatRef::new(&residual, (2, 3)).strides(7, 2);
        gemm.run(Arguments::new((2, 3, 2), &a, &b, &mut d).bias_n(&bias).aux::<1>(view))
            .expect("a result");
        d
    }
    assert_eq!(sums::<RowMajor>(), [12.0, 24.0, 36.0, 19.0, 31.0, 43.0]);
    assert_eq!(sums::<ColMajor>(), [12.0, 19.0, 24.0, 31.0, 36.0, 43.0]);

    let (a, b, bias) = ([Bf16::ONE; 2], [Bf16::ONE; 2], [0.0f32]);
    let mut d = [f32::NAN; 2];
    let gemm = HopperRows::<Bf16, f32>::new().with::<Two>();
    let arguments = Arguments::new((1, 1, 1), &a, &b, &mut d).batch(2);
    gemm.run(arguments.bias_n(&bias).aux::<1>(&[5.0f32, 7.0])).expect("a result");
    assert_eq!(d, [6.0, 8.0]);
}

/// Groups and the GEMMs of an array share one matrix. Group rows are rows of D.
#[test]
fn groups_and_arrays_share_a_matrix() {
    let (a, b, bias) = ([Bf16::ONE; 3], [1.0, 2.0].map(Bf16::from_f32), [0.0f32]);
    let gemm = HopperRows::<Bf16, f32>::new().with::<Two>();
    let mut d = [f32::NAN; 3];
    let arguments = Arguments::new((3, 1, 1), &a, &b, &mut d).groups(&[0, 1, 3]);
    gemm.run(arguments.bias_n(&bias).aux::<1>(&[10.0f32, 20.0, 30.0])).expect("a result");
    assert_eq!(d, [11.0, 22.0, 32.0]);

    let mut d = [[f32::NAN; 1], [f32::NAN; 1]];
    let arguments = Arguments::array((1, 1, 1), [&a, &a], [&b, &b], &mut d).expect("two GEMMs");
    gemm.run(arguments.bias_n(&bias).aux::<1>(&[4.0f32])).expect("a result");
    assert_eq!(d, [[5.0], [5.0]]);
}

/// Missing, short, unread, and wrongly typed operands are refused by name, and D stays.
#[test]
fn wrong_operands_are_refused_by_name() {
    let (a, b, bias) = ([Bf16::ONE; 4], [Bf16::ONE; 4], [0.0f32; 2]);
    let gemm = HopperRows::<Bf16, f32>::new().with::<Two>();
    let mut d = [f32::NAN; 4];
    let run = |d: &mut [f32; 4], matrix: Option<&[f32]>| {
        let arguments = Arguments::new((2, 2, 2), &a, &b, d).bias_n(&bias);
        match matrix {
            Some(matrix) => gemm.run(arguments.aux::<1>(matrix)),
            None => gemm.run(arguments),
        }
        .expect_err("refused")
        .to_string()
    };
    assert_eq!(run(&mut d, None), "aux1 is missing (the kernel reads it)");
    assert_eq!(run(&mut d, Some(&[0.0; 3])), "length of aux1 = 3 elements is less than 4 elements");
    let arguments = Arguments::new((2, 2, 2), &a, &b, &mut d).bias_n(&bias);
    assert_eq!(
        gemm.run(arguments.aux::<1>(&[0.0f64; 4])).expect_err("refused").to_string(),
        "element type of aux1 = f64 is not f32"
    );
    let arguments = Arguments::new((2, 2, 2), &a, &b, &mut d).bias_n(&bias).aux::<1>(&[0.0f32; 4]);
    assert_eq!(
        gemm.run(arguments.aux::<2>(&[0.0f32; 4])).expect_err("refused").to_string(),
        "aux2 is not read by the epilogue; add it to the epilogue, or do not pass it"
    );
    let of_three = MatRef::new(&[0.0f32; 6], (2, 3));
    let arguments = Arguments::new((2, 2, 2), &a, &b, &mut d).bias_n(&bias).aux::<1>(of_three);
    assert_eq!(
        gemm.run(arguments).expect_err("refused").to_string(),
        "shape of aux1 = 2 x 3 is not 2 x 2"
    );
    assert!(d.iter().all(|x| x.is_nan()));
    for (text, because) in [
        ("acc + c:f32", "c with a type of its own"),
        ("aux1 + aux1:f32", "an operand with two element types"),
        ("aux1 + aux2 + aux3 + aux4 + bias_m + bias_n", "more than five operands in addition to c"),
        ("acc + bias_n:f31", "an element type was expected here"),
    ] {
        let told = text.parse::<EpilogueDesc>().expect_err(text).to_string();
        assert!(told.contains(because), "{text}: {told}");
    }
    let most = "c + aux1 + aux2 + aux3 + aux4 + bias_m";
    assert!(most.parse::<EpilogueDesc>().is_ok());
    let first = |op| default_description(op, ArchKind::Sm80, Combined::all_of(op)[0], ROWS).ok();
    let desc = OpKind::ALL.into_iter().find_map(first).expect("a kernel");
    let narrow = "acc + aux1:e4m3".parse::<EpilogueDesc>().expect("an expression");
    let told = desc.pinned(Pins { epilogue: Some(narrow), ..Pins::NONE }).check();
    assert!(told.expect_err("fp8").to_string().contains("conversions of fp8 need sm89"));
    let wide = "acc + aux1:f64".parse::<EpilogueDesc>().expect("an expression");
    let told = desc.pinned(Pins { epilogue: Some(wide), ..Pins::NONE }).check();
    assert!(told.expect_err("f64").to_string().starts_with("element type of aux1 = f64"));
}
