//! Emulated `f32` on tensor cores: the exact bits of D, the error bound, refusals, and mutants.

use crate::harness::{on_tensor_cores::*, prelude::*, product};
use falchion::{
    internals::host::shared::ring::EmulationProgram,
    nest::{Bf16x6, F16x3},
    numeric::emulation::unscaled,
};

const SIZES: [usize; 3] = [130, 70, 200];

/// Every element in both modes, bit by bit: `D[i, j]` is a sum over blocks of 64 along K, and over
/// the products of terms from the smallest on. Each summand is the instruction's result for
/// `a_p[i, block] b_q[block, j]` with an accumulator of 0. The summands are added in f32, and the
/// scales are removed with one rounding.
#[test]
fn every_element_is_a_sum_of_products_of_terms() {
    for emulation in EmulationKind::MODES {
        let (desc, [m, n, k]) = (desc(emulation, ORDERS[0]), SIZES);
        let (a, b) = (draws(Data::Normal, 1, m, k), draws(Data::Normal, 2, n, k));
        let fast = computed(&desc, Mode::Fast, SIZES, (&a, &b)).expect("it fits");
        let term = emulation.term_type().expect("a term");
        let types = element_types(term, ElementKind::F32, ElementKind::F32);
        let own = Instruction::for_types(types, ArchKind::Sm90).expect("Hopper multiplies it");
        let widen = |bits: u16| match term {
            ElementKind::Bf16 => Bf16::from_bits(bits).to_f32(),
            _ => F16::from_bits(bits).to_f32(),
        };
        let line = |of: &[f32], at: usize| -> (Vec<[f32; 3]>, i32) {
            let row = &of[at * k..][..k];
            let shift = if emulation.scales() {
                shift_of(LineFacts::new(row.iter().copied()).largest)
            } else {
                0
            };
            let mut terms: Vec<_> =
                row.iter().map(|&x| emulation.decompose(x, shift).map(widen)).collect();
            terms.resize(k.next_multiple_of(64), [0.0; 3]);
            (terms, shift)
        };
        for (i, j) in (0..m).step_by(7).flat_map(|i| (0..n).step_by(3).map(move |j| (i, j))) {
            let ((row, of_row), (column, of_column)) = (line(&a, i), line(&b, j));
            let mut sum = 0.0f32;
            for block in (0..row.len()).step_by(64) {
                for &[p, q] in emulation.products() {
                    let term = |of: &[[f32; 3]], term: u32| -> Vec<f32> {
                        of[block..block + 64].iter().map(|x| x[term as usize]).collect()
                    };
                    sum += own.step(0.0, &term(&row, p), &term(&column, q));
                }
            }
            let wanted = if emulation.scales() { unscaled(sum, of_row + of_column) } else { sum };
            assert_eq!(fast[i * n + j].to_bits(), wanted.to_bits(), "{emulation:?} D({i}, {j})");
        }
        let tile = |m, n| Mnk { m, n, k: 64 };
        let pingpong = but!(desc, threadblock: tile(128, 128), schedule: ScheduleKind::Pingpong);
        let one_part = but!(desc, threadblock: tile(64, 128), warp: tile(64, 128));
        let shared = but!(desc, cluster: Mn { m: 2, n: 1 });
        let narrow = but!(desc, align_c: 1);
        for other in [desc, pingpong, one_part, shared, narrow] {
            let checked = computed(&other, Mode::Checked { seed: 5 }, SIZES, (&a, &b))
                .unwrap_or_else(|error| panic!("{error}: {other:?}"));
            assert!(bits(&checked) == bits(&fast), "{other:?}");
        }
    }
}

/// The terms do not depend on the layouts of A, B, and D, so D does not either.
#[test]
fn layouts_of_decomposed_operands_do_not_change_d() {
    for emulation in EmulationKind::MODES {
        check_all_layouts(SIZES, |orders| desc(emulation, orders));
    }
}

/// The bound holds for normal, wide, cancelling, and adversarial data and any K. It is a small
/// multiple of the last place of `|A||B|`. f16x3 without its exponent check stays within its
/// absolute term.
#[test]
fn results_are_within_the_bound() {
    let mut largest = [0.0f64; EmulationKind::MODES.len()];
    for (which, emulation) in EmulationKind::MODES.into_iter().enumerate() {
        let desc = desc(emulation, ORDERS[0]);
        for data in DATA {
            for (seed, k) in [(1, 1), (2, 63), (3, 64), (4, 65), (5, 300), (6, 1000)] {
                let [m, n] = [20, 24];
                let (a, b) = (draws(data, seed, m, k), draws(data, seed + 50, n, k));
                let tile = Mnk { m: 64, n: 128, k: 64 };
                let one_tile = but!(desc, threadblock: tile, warp: tile);
                let mut program = WarpSpecializedProgram::new(&one_tile).expect("a program");
                // The bound holds even without the exponent check.
                program.emulation.windowed = false;
                let d =
                    ran(&program, [m, n, k], (&a, &b)).unwrap_or_else(|error| panic!("{error}"));
                let verdict = judge(&desc, [m, n, k], (&a, &b), &d);
                assert!(verdict.is_right(), "{emulation:?} {data:?} {k}: {verdict:?}");
                largest[which] = largest[which].max(verdict.error_over_bound);
            }
        }
    }
    println!("largest errors over bound: {largest:?}");
    assert!(largest.iter().all(|&share| share > 0.02), "{largest:?}");
}

/// Fault of a decomposing program: name, condition, and change.
type Named = (&'static str, fn(EmulationKind) -> bool, fn(&mut EmulationProgram));

fn any(_: EmulationKind) -> bool {
    true
}

const FAULTS: &[Named] = &[
    ("the first and the second term are swapped", any, |p| {
        p.terms = |emulation, x, shift| {
            let [first, second, third] = emulation.decompose(x, shift);
            [second, first, third]
        };
    }),
    ("the second term repeats the first", any, |p| {
        p.terms = |emulation, x, shift| {
            let [first, _, third] = emulation.decompose(x, shift);
            [first, first, third]
        };
    }),
    ("the last term is omitted", any, |p| {
        p.terms = |emulation, x, shift| {
            let mut terms = emulation.decompose(x, shift);
            terms[emulation.terms() as usize - 1] = 0;
            terms
        };
    }),
    ("tiles read the next block", any, |p| {
        p.block = |blocks, operand, tile| blocks.block(operand, tile) + 1
    }),
    ("products start at the second one", any, |p| {
        p.block = |blocks, operand, tile| blocks.block(operand, (tile + 1) % blocks.tiles());
    }),
    ("B's terms are A's", any, |p| p.block = |blocks, _, tile| blocks.block(OperandKind::A, tile)),
    ("a product is omitted", any, |p| {
        // Blocks beyond the terms contain zeros.
        p.block = |blocks, operand, tile| {
            if tile % 3 == 1 { u32::MAX / 64 } else { blocks.block(operand, tile) }
        };
    }),
    ("padding is not zero", any, |p| p.padding = 0x3c00),
    ("scales are removed twice", EmulationKind::scales, |p| {
        p.unscaled = |sum, shift| unscaled(sum, 2 * shift)
    }),
    ("scales are not removed", EmulationKind::scales, |p| p.unscaled = |sum, _| sum),
    ("rows are scaled by one binade too much", EmulationKind::scales, |p| {
        p.terms = |emulation, x, shift| emulation.decompose(x, shift - 1);
    }),
    ("shifts are off by one", EmulationKind::scales, |p| {
        p.unscaled = |sum, shift| unscaled(sum, shift + 1)
    }),
];

/// Each fault changes D, and the unchanged program does not. The data are finite and within the
/// exponent range, and K is not a multiple of a block.
#[test]
fn every_fault_is_found() {
    let tile = |m, n| Mnk { m, n, k: 64 };
    let mut found = 0;
    for emulation in EmulationKind::MODES {
        let desc =
            but!(desc(emulation, ORDERS[0]), threadblock: tile(64, 128), warp: tile(64, 128));
        let sizes @ [m, n, k] = [70, 60, 150];
        let (a, b) = (draws(Data::Normal, 1, m, k), draws(Data::Normal, 2, n, k));
        // The scales of both operands differ from 1.
        let b: Vec<f32> = b.iter().map(|x| x * 3000.0).collect();
        let wanted = computed(&desc, Mode::Fast, sizes, (&a, &b)).expect("it fits");
        let right = WarpSpecializedProgram::new(&desc).expect("a program");
        assert!(bits(&ran(&right, sizes, (&a, &b)).expect("it fits")) == bits(&wanted));
        for (name, _, change) in FAULTS.iter().filter(|fault| fault.1(emulation)) {
            let mut program = right.clone();
            change(&mut program.emulation);
            match ran(&program, sizes, (&a, &b)) {
                Ok(d) => assert!(bits(&d) != bits(&wanted), "{emulation:?}: {name} is not found"),
                Err(error) => println!("{emulation:?}: {name}: {error}"),
            }
            found += 1;
        }
    }
    println!("{found} faults found");
    assert_eq!(found, 3 * 8 + 4);
}

fn refused(result: Result<Vec<f32>, Error>) -> String {
    let error = result.map(|d| d.len()).expect_err("refused");
    assert!(matches!(error.refusal(), Some(Refusal { because: Because::Line(_), .. })), "{error}");
    error.to_string()
}

/// f16x3 refuses data with a wide exponent range, and names the user's row or column, in both modes
/// and all layouts. Refused calls write nothing. bf16x6 accepts such data. A program without the
/// check runs.
#[test]
fn f16x3_checks_the_exponent_range() {
    let [m, n, k] = [9, 11, 128];
    let (a, mut b) = (draws(Data::Normal, 1, m, k), draws(Data::Normal, 2, n, k));
    for (step, x) in b[7 * k..8 * k].iter_mut().enumerate().take(5) {
        *x = 1e-9 * (step + 1) as f32;
    }
    let says = "count of numbers below the exponent range of f16x3 = 5 exceeds 2 (column 7 of B); try emulation = bf16x6";
    for orders in ORDERS {
        for mode in [Mode::Fast, Mode::Checked { seed: 1 }] {
            assert_eq!(
                refused(computed(&desc(EmulationKind::F16x3, orders), mode, [m, n, k], (&a, &b))),
                says,
                "{orders:?}"
            );
            assert!(
                computed(&desc(EmulationKind::Bf16x6, orders), mode, [m, n, k], (&a, &b)).is_ok()
            );
        }
    }
    let mut program =
        WarpSpecializedProgram::new(&desc(EmulationKind::F16x3, ORDERS[0])).expect("a program");
    program.emulation.windowed = false;
    assert!(ran(&program, [m, n, k], (&a, &b)).is_ok());
    let zeros = vec![0.0; n * k];
    let mut infinite = a.clone();
    infinite[3 * k + 1] = f32::INFINITY;
    let says = "a number of A is not finite (row 3 of A); try emulation = bf16x6";
    assert_eq!(
        refused(computed(
            &desc(EmulationKind::F16x3, ORDERS[3]),
            Mode::Fast,
            [m, n, k],
            (&infinite, &zeros)
        )),
        says
    );
    let d = computed(
        &desc(EmulationKind::F16x3, ORDERS[0]),
        Mode::Checked { seed: 2 },
        [m, n, k],
        (&a, &zeros),
    )
    .expect("zeros fit");
    assert!(d.iter().all(|&x| x == 0.0));
}

/// In bf16x6, an infinite factor makes its row of D infinite if the other factors have one term,
/// and NaN otherwise.
#[test]
fn nonfinite_operands_reach_d() {
    let [m, n, k] = [4, 4, 70];
    let (mut a, mut b) = (vec![1.0f32; m * k], vec![2.0f32; n * k]);
    a[k + 5] = f32::INFINITY;
    a[2 * k + 9] = f32::NAN;
    b[3 * k + 5] = 1.0 / 3.0;
    let d = computed(&desc(EmulationKind::Bf16x6, ORDERS[0]), Mode::Fast, [m, n, k], (&a, &b))
        .expect("all data are accepted");
    assert!(d[..n].iter().all(|x| x.is_finite()) && d[3 * n..].iter().all(|x| x.is_finite()));
    assert!(
        d[n..2 * n].iter().all(|x| !x.is_finite()) && d[2 * n..3 * n].iter().all(|x| x.is_nan())
    );
    // Infinity is multiplied by the second and third terms, which are zeros.
    assert!(d[n].is_nan() && d[2 * n - 1].is_nan());
}

fn request(knobs: &[(&str, &str)]) -> Request {
    let types = ["f32:row", "f32:col", "f32:row"];
    Request { op: Some(OpKind::TensorOp), ..product::request(types, knobs) }
}

/// `f32` on tensor cores uses bf16x6 by default, for flags, types, and files.
#[test]
fn requests_types_and_files_name_the_modes() {
    let resolved = |knobs: &[(&str, &str)]| {
        request(knobs).resolve(ArchKind::Sm90).map(|resolved| resolved.desc)
    };
    assert_eq!(resolved(&[]).expect("a kernel"), desc(EmulationKind::Bf16x6, ORDERS[0]));
    assert_eq!(
        resolved(&[("emulation", "f16x3")]).expect("a kernel"),
        desc(EmulationKind::F16x3, ORDERS[0])
    );
    let facts = format!(
        "{:?}",
        falchion_lab::explain::facts(
            &desc(EmulationKind::F16x3, ORDERS[0]).explain().expect("it checks")
        )
    );
    assert!(
        facts.contains("f32 in 2 terms of f16, rows of A and columns of B scaled; 3 of 4 products of terms are summed"),
        "{facts}"
    );
    type Product<C> = HopperK<f32, f32, RowMajor, C>;
    assert_eq!(Product::<Auto>::new().desc(), desc(EmulationKind::Bf16x6, ORDERS[0]));
    assert_eq!(Product::<With<Auto, F16x3>>::new().desc(), desc(EmulationKind::F16x3, ORDERS[0]));
    assert_eq!(Product::<With<Auto, Bf16x6>>::new().desc().mma.promotion(), PromotionKind::Stage);
    assert_eq!(default_of(OpKind::TensorOp, ArchKind::Sm90, TYPES, ORDERS[0]).check(), Ok(()));
    {
        let one = desc(EmulationKind::F16x3, ORDERS[3]);
        let json = one.to_json().expect("an expression");
        assert_eq!(json.matches("\"multiplied\":\"f16x3\"").count(), 2, "{json}");
        assert_eq!(GemmDesc::from_json(&json).expect("its own"), one);
    }
}

/// Unsupported and missing emulations are refused with advice.
#[test]
fn invalid_emulations_are_refused() {
    let says = |d: GemmDesc| d.check().message();
    let f32s = desc(EmulationKind::Bf16x6, ORDERS[0]);
    assert_eq!(
        says(but!(f32s, emulation: EmulationKind::None)),
        "emulation = none is not supported by f32 on tensor cores; try bf16x6 (all 24 bits), bf16x3 (16 bits), f16x3 (limited exponents), or tf32x3 (22 bits, mma.sync)"
    );
    let error = request(&[("emulation", "none")]).resolve(ArchKind::Sm90).message();
    assert_eq!(
        error,
        "emulation = none is not supported by f32 on tensor cores; try bf16x6 (all 24 bits), bf16x3 (16 bits), f16x3 (limited exponents), or tf32x3 (22 bits, mma.sync); no kernel was found with this emulation"
    );
    let bf16 = Combined { a: ElementKind::Bf16, b: ElementKind::Bf16, ..TYPES };
    let bf16 = default_of(OpKind::TensorOp, ArchKind::Sm90, bf16, ORDERS[0]);
    assert_eq!(
        says(but!(bf16, emulation: EmulationKind::F16x3)),
        "emulation = f16x3 is not supported by bf16; try none"
    );
    let mut deep = problem(ORDERS[0], [1, 1, 1]);
    (deep.k, deep.a.strides, deep.b.strides) = (1 << 30, [1 << 30, 1], [1, 1 << 30]);
    let refusal = deep.enter(&f32s).expect_err("too deep");
    assert!(
        matches!(refusal, Refusal { rule: Rule::AtMost, limit: Value::Number(715_827_840), .. }),
        "{refusal}"
    );
}

/// If a row of any GEMM cannot be scaled, the whole batch is refused before anything is written.
#[test]
fn a_batch_that_cannot_be_scaled_does_not_write_d() {
    type Scaled = HopperK<f32, f32, RowMajor, With<Auto, F16x3>>;
    let (m, n, k) = (20, 12, 70);
    for product in 0..3 {
        let (mut a, b) = (vec![1.0f32; 3 * m * k], vec![2.0f32; 3 * k * n]);
        a[product * m * k + 3 * k + 1] = f32::INFINITY;
        let mut d = vec![7.0f32; 3 * m * n];
        let refused = Scaled::new()
            .run(Arguments::new((m, n, k), &a, &b, &mut d).batch(3))
            .expect_err("infinite");
        let sentence = format!("a number of A is not finite (row 3 of A of GEMM {product})");
        assert!(refused.to_string().starts_with(&sentence), "{refused}");
        assert!(d.iter().all(|&x| x == 7.0), "product {product}");
        a[product * m * k + 3 * k + 1] = 1.0;
        Scaled::new().run(Arguments::new((m, n, k), &a, &b, &mut d).batch(3)).expect("a batch");
        assert!(d.iter().all(|&x| x == 140.0));
    }
}

/// The bound is useful for every K: from K = 1000 on, it is below `K 2^-24`, the bound of a plain
/// f32 sum.
#[test]
fn the_bound_is_below_that_of_plain_sums() {
    for emulation in EmulationKind::MODES {
        for k in [1000usize, 4096, 8192, 1 << 20] {
            let relative = Accumulation::for_description(&desc(emulation, ORDERS[0]), k).relative;
            assert!(
                relative > 0.0 && relative < k as f64 * 2f64.powi(-24),
                "{emulation:?} {k}: {relative:e}"
            );
        }
    }
    // The number in book/src/f32_accurate.md.
    let units = Accumulation::for_description(&desc(EmulationKind::Bf16x6, ORDERS[0]), 4096)
        .relative
        * 2f64.powi(24);
    assert_eq!(units.round(), 425.0, "{units}");
}
