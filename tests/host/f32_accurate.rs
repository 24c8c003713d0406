//! `f32` on tensor cores, in terms: what D is, bit by bit, what it may be off by, what is refused,
//! and what a wrong program computes.

use crate::harness::{on_tensor_cores::*, prelude::*, product};
use falchion::{
    internals::nest::EmulationProgram,
    nest::{Bf16x6, F16x3},
    numeric::emulation::unscaled,
};

const SIZES: [usize; 3] = [130, 70, 200];

/// For every element and in both modes, bit by bit: `D[i, j]` is the sum, over blocks of 64 along K
/// and the products of each from the smallest on, of what the instruction makes of `a_p[i, block]
/// b_q[block, j]` from 0, each added in f32; scaled back by one rounding.
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

/// D is the same whatever the layouts of A, B and D: the terms are.
#[test]
fn layouts_of_decomposed_operands_change_nothing() {
    for emulation in EmulationKind::MODES {
        layouts_change_nothing(SIZES, |orders| desc(emulation, orders));
    }
}

/// `!(|D - AB| <= bound)` nowhere, for normal, wide, cancelling and hostile data and any K; the
/// bound is no larger than so many units in the last place of `|A||B|`, and the f16x3 that takes
/// wide data without its window stays within its absolute term.
#[test]
fn results_lie_within_the_bound() {
    let mut largest = [0.0f64; EmulationKind::MODES.len()];
    for (which, emulation) in EmulationKind::MODES.into_iter().enumerate() {
        let desc = desc(emulation, ORDERS[0]);
        for data in DATA {
            for (seed, k) in [(1, 1), (2, 63), (3, 64), (4, 65), (5, 300), (6, 1000)] {
                let [m, n] = [20, 24];
                let (a, b) = (draws(data, seed, m, k), draws(data, seed + 50, n, k));
                let mut program = but!(desc, threadblock: Mnk { m: 64, n: 128, k: 64 }, warp: Mnk { m: 64, n: 128, k: 64 }).ring_program()
                    .expect("a program");
                // Without the window the bound holds all the same.
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

/// A named change to a program that decomposes.
type Named = (&'static str, fn(EmulationKind) -> bool, fn(&mut EmulationProgram));

fn any(_: EmulationKind) -> bool {
    true
}

const FAULTS: &[Named] = &[
    ("the first and the second term change places", any, |p| {
        p.terms = |emulation, x, shift| {
            let [first, second, third] = emulation.decompose(x, shift);
            [second, first, third]
        };
    }),
    ("the second term is of the number, not of the rest", any, |p| {
        p.terms = |emulation, x, shift| {
            let [first, _, third] = emulation.decompose(x, shift);
            [first, first, third]
        };
    }),
    ("the last term is left out", any, |p| {
        p.terms = |emulation, x, shift| {
            let mut terms = emulation.decompose(x, shift);
            terms[emulation.terms() as usize - 1] = 0;
            terms
        };
    }),
    ("tiles read the next block", any, |p| {
        p.block = |blocks, operand, tile| blocks.block(operand, tile) + 1
    }),
    ("products count from one on", any, |p| {
        p.block = |blocks, operand, tile| blocks.block(operand, (tile + 1) % blocks.tiles());
    }),
    ("B's terms are A's", any, |p| p.block = |blocks, _, tile| blocks.block(OperandKind::A, tile)),
    ("a product is left out", any, |p| {
        // Beyond the terms there are zeros.
        p.block = |blocks, operand, tile| {
            if tile % 3 == 1 { u32::MAX / 64 } else { blocks.block(operand, tile) }
        };
    }),
    ("padding is not zero", any, |p| p.padding = 0x3c00),
    ("scales are taken back twice", EmulationKind::scales, |p| {
        p.unscaled = |sum, shift| unscaled(sum, 2 * shift)
    }),
    ("scales are not taken back", EmulationKind::scales, |p| p.unscaled = |sum, _| sum),
    ("rows are scaled by one binade more", EmulationKind::scales, |p| {
        p.terms = |emulation, x, shift| emulation.decompose(x, shift - 1);
    }),
    ("shifts are off by one", EmulationKind::scales, |p| {
        p.unscaled = |sum, shift| unscaled(sum, shift + 1)
    }),
];

/// Each change to what a program decomposes and puts together shows in D; the program unchanged
/// shows nothing. Of data that is finite, within the window, and no whole number of blocks along K.
#[test]
fn every_fault_is_found() {
    let tile = |m, n| Mnk { m, n, k: 64 };
    let mut found = 0;
    for emulation in EmulationKind::MODES {
        let desc =
            but!(desc(emulation, ORDERS[0]), threadblock: tile(64, 128), warp: tile(64, 128));
        let sizes @ [m, n, k] = [70, 60, 150];
        let (a, b) = (draws(Data::Normal, 1, m, k), draws(Data::Normal, 2, n, k));
        // Neither side's scales are 1.
        let b: Vec<f32> = b.iter().map(|x| x * 3000.0).collect();
        let wanted = computed(&desc, Mode::Fast, sizes, (&a, &b)).expect("it fits");
        let right = desc.ring_program().expect("a program");
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

/// f16x3 refuses wide data by the user's own row or column, in both modes and all layouts, and
/// writes nothing; bf16x6 takes it. A program that does not look computes something.
#[test]
fn the_window_is_checked() {
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
    let mut program = desc(EmulationKind::F16x3, ORDERS[0]).ring_program().expect("a program");
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

/// An infinite factor reaches its row of D in bf16x6: as infinity where the other factors have one
/// term, else as no number.
#[test]
fn nonfinite_operands_reach_d() {
    let [m, n, k] = [4, 4, 70];
    let (mut a, mut b) = (vec![1.0f32; m * k], vec![2.0f32; n * k]);
    a[k + 5] = f32::INFINITY;
    a[2 * k + 9] = f32::NAN;
    b[3 * k + 5] = 1.0 / 3.0;
    let d = computed(&desc(EmulationKind::Bf16x6, ORDERS[0]), Mode::Fast, [m, n, k], (&a, &b))
        .expect("it takes all");
    assert!(d[..n].iter().all(|x| x.is_finite()) && d[3 * n..].iter().all(|x| x.is_finite()));
    assert!(
        d[n..2 * n].iter().all(|x| !x.is_finite()) && d[2 * n..3 * n].iter().all(|x| x.is_nan())
    );
    // Infinity times the zeros that are the second and third terms.
    assert!(d[n].is_nan() && d[2 * n - 1].is_nan());
}

fn request(knobs: &[(&str, &str)]) -> Request {
    let types = ["f32:row", "f32:col", "f32:row"];
    Request { op: Some(OpKind::TensorOp), ..product::request(types, knobs) }
}

/// `f32` on tensor cores is bf16x6 unless it is told otherwise, by flags, types and files alike.
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

/// What cannot be emulated, and what has to be, is refused in a sentence with a way out.
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
    let simt = Request { op: Some(OpKind::Simt), ..request(&[("emulation", "bf16x6")]) };
    let says = |arch| simt.resolve(arch).message();
    for arch in [ArchKind::Sm80, ArchKind::Sm90] {
        assert_eq!(says(arch), "emulation is not a knob of CUDA-core kernels; try op = tensorop");
    }
    let mut deep = problem(ORDERS[0], [1, 1, 1]);
    (deep.k, deep.a.strides, deep.b.strides) = (1 << 30, [1 << 30, 1], [1, 1 << 30]);
    let refusal = deep.enter(&f32s).expect_err("too deep");
    assert!(
        matches!(refusal, Refusal { rule: Rule::AtMost, limit: Value::Number(715_827_840), .. }),
        "{refusal}"
    );
}

/// The bound says something for every K that is taken: below `K 2^-24` of a sum of products in f32
/// from 1000 on.
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
