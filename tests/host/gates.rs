//! Epilogues with a gate on the host: integers in each form of B, bits of plain GEMMs, and
//! refusals.

use crate::harness::{
    gates::{Form, GatedCase, descriptions},
    prelude::*,
};
use falchion::{device::GemmOperation, internals::operand::GateColumns};

/// Fills the matrices of a case with the integers -1 to 2, and returns D = relu(gate) * up of f64.
fn with_integers(case: &mut GatedCase, desc: &GemmDesc, seed: u64) -> Vec<(usize, f64)> {
    let types = desc.user_types();
    let filled = |kind: ElementKind, bytes: &[u8], seed: u64| {
        let length = kind.matrix_elements(bytes.len() as u64) as usize;
        let mut buffer = HostBuffer::poisoned(kind, length).expect("memory");
        let numbers: Vec<f64> =
            (0..length).map(|i| (draw(seed, i as u64) % 4) as f64 - 1.0).collect();
        for (place, number) in numbers.iter().enumerate() {
            // Unsigned types have no -1.
            let number = if kind == ElementKind::U8 { number.abs() } else { *number };
            buffer.set(place, number).expect("a number");
        }
        let read: Vec<f64> =
            (0..length).map(|place| buffer.get(place).expect("a number")).collect();
        (buffer.bytes().to_vec(), read)
    };
    let [(a, of_a), (b, of_b)] =
        [filled(types.a, &case.a, seed), filled(types.b, &case.b, seed ^ 1)];
    (case.a, case.b) = (a, b);
    let numbers = [of_a, of_b];
    let [a, b] = &numbers;
    let Problem { m, n, k, batch, a: of_a, b: gate, d, .. } = case.problem;
    let mut wanted = Vec::new();
    for matrix in 0..batch {
        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
            let [gate, up] = case.first.map(|first| {
                let from_b = first + matrix * gate.batch_stride;
                (0..k)
                    .map(|k| {
                        a[matrix * of_a.batch_stride + of_a.offset(row, k)]
                            * b[from_b + gate.offset(k, column)]
                    })
                    .sum::<f64>()
            });
            wanted.push((matrix * d.batch_stride + d.offset(row, column), gate.max(0.0) * up));
        }
    }
    wanted
}

/// Every main loop and MMA multiplies each pair of columns, in every form of B, and writes nothing
/// outside of D.
#[test]
fn integers_of_gates_are_exact_in_each_form() {
    let (mut forms, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    let all: Vec<_> = descriptions(0x6a7e, 400)
        .into_iter()
        .filter(|(_, desc)| {
            let c = desc.output.element;
            [ElementKind::F32, ElementKind::F64, ElementKind::I32].contains(&c)
                && !desc.types().accumulator.is_fp8()
                && desc.types().accumulator != ElementKind::F16
                && [desc.operands[0].multiplied, desc.operands[1].multiplied]
                    .iter()
                    .all(|multiplied| multiplied.transform().is_none())
        })
        .collect();
    assert!(all.len() > 60, "{}", all.len());
    let plain = "relu(gate) * up".parse().expect("an expression");
    for (seed, desc) in all {
        let desc = desc.pinned(Pins { epilogue: Some(plain), ..Pins::NONE });
        let mut case = GatedCase::random(&desc, seed, false);
        let wanted = with_integers(&mut case, &desc, seed);
        let found = case.on_host(&desc).unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
        let mut d = HostBuffer::poisoned(desc.output.element, case.problem.d.memory.length)
            .expect("memory");
        let length = d.length();
        d.slice_mut(0..length).expect("D").into_bytes().copy_from_slice(&found);
        for &(place, wanted) in &wanted {
            let got = d.get(place).expect("a number");
            assert!(
                got == wanted,
                "{seed}, {:?}, {place}: {got}, not {wanted}\n{desc:?}",
                case.form
            );
        }
        let written: BTreeSet<_> = wanted.iter().map(|(place, _)| *place).collect();
        let width = desc.output.element.bytes_of(1) as usize;
        for place in (0..length).filter(|place| !written.contains(place)) {
            let bytes = place * width..(place + 1) * width;
            assert_eq!(found[bytes.clone()], case.d[bytes], "{place} is outside of D");
        }
        forms.insert(format!("{:?}", case.form));
        kinds.insert((desc.mainloop.kind().name(), desc.mma.kind().name()));
    }
    assert!(forms.len() == 4 && kinds.len() >= 6, "{forms:?} {kinds:?}");
}

/// The accumulators of a gate have the bits of a plain GEMM with the same description.
#[test]
fn gates_have_the_bits_of_plain_gemms() {
    let mut compared = 0;
    for (seed, desc) in descriptions(0x6a7f, 120) {
        let types = desc.user_types();
        if types.c != types.accumulator || types.c.is_integer() {
            continue;
        }
        for (text, number) in [("gate - 0 * up", 0), ("up - 0 * gate", 1)] {
            // The other accumulators are finite, so 0 times them is 0 or -0.
            let epilogue = text.parse().expect("an expression");
            let desc = desc.pinned(Pins { epilogue: Some(epilogue), ..Pins::NONE });
            let mut case = GatedCase::random(&desc, seed, false);
            let gated = case.on_host(&desc).expect("a result");
            let plain = "acc - 0".parse().expect("an expression");
            let plain = desc.pinned(Pins { epilogue: Some(plain), ..Pins::NONE });
            let one = if number == 0 { case.problem.b } else { *case.up() };
            case.first = [case.first[number]; 2];
            case.problem = Problem { b: one, up: UpMatrix::None, ..case.problem };
            // Stream-K and split-K divide the K of other tiles in a plain GEMM.
            if plain.check().is_err() || plain.split_k() > 1 || plain.streams_k() {
                continue;
            }
            assert!(case.on_host(&plain).expect("a result") == gated, "{seed}, {text}: {desc:?}");
            compared += 1;
        }
    }
    assert!(compared >= 40, "{compared}");
}

fn refused(request: &Request) -> String {
    GemmOperation::from_request(request).map(|_| ()).expect_err("a refusal").to_string()
}

#[test]
fn malformed_gates_are_refused() {
    for (text, says) in [
        ("acc * up + gate", "acc together with gate and up"),
        ("silu(gate)", "only one of gate and up; use acc for a single column of B"),
        ("up + bias_n", "only one of gate and up"),
    ] {
        let error = text.parse::<EpilogueDesc>().expect_err("a refusal").to_string();
        assert!(error.contains(says), "{error}");
    }
    let column_major = request(["f32:row", "f32:row", "f32:col"], &[("epilogue", "gate * up")]);
    let says = refused(&column_major);
    assert!(
        says.contains("layout of D = column-major is not supported by an epilogue with a gate"),
        "{says}"
    );
}

#[test]
fn kernels_that_do_not_support_a_gate_are_refused() {
    let gate = ("epilogue", "relu(gate) * up");
    let desc = GemmOperation::from_request(&request(["f32:row"; 3], &[gate])).expect("one").desc();
    let array = GemmDesc { work: WorkDesc { mode: GemmMode::Array, ..desc.work }, ..desc };
    let columns = desc.for_groups(Axis::N);
    for (desc, says) in [
        (array, "number of GEMMs is not supported by an epilogue with a gate"),
        (columns, "number of groups is not supported by an epilogue with a gate"),
    ] {
        let refusal = desc.check().expect_err("a refusal").to_string();
        assert!(refusal.starts_with(says), "{refusal}");
    }
    let terms = Request {
        op: Some(OpKind::TensorOp),
        arch: Some(ArchKind::Sm90),
        ..request(["f32:row"; 3], &[gate, ("emulation", "bf16x3")])
    };
    let terms = refused(&terms);
    assert!(terms.contains("emulation = bf16x3 is not supported by an epilogue"), "{terms}");
    let narrow = [gate, ("warp", "64x8x8"), ("threadblock", "64x8x8")];
    let narrow = refused(&request(["f32:row"; 3], &narrow));
    assert!(narrow.contains("half of a warp tile has the gate's columns"), "{narrow}");
}

#[test]
fn calls_that_do_not_fit_a_gate_are_refused() {
    falchion::epilogue! { struct ReGlu = relu(gate) * up }
    let gemm = Gemm::<f32, RowMajor, f32, ColMajor>::new().epilogue::<ReGlu>();
    let plain = Gemm::<f32, RowMajor, f32, ColMajor>::new();
    let (a, b, short) = ([1.0f32; 6], [1.0f32; 18], [1.0f32; 6]);
    let mut d = [0.0f32; 6];
    let says = |result: Result<(), Error>| result.expect_err("a refusal").to_string();
    // B has 2 x 3 columns of 3 elements.
    gemm.run(Arguments::new((2, 3, 3), &a, &b, &mut d)).expect("a result");
    let few = says(gemm.run(Arguments::new((2, 3, 3), &a, &b[..17], &mut d)));
    assert!(few.starts_with("length of the up columns of B = 8 elements is less than 9"), "{few}");
    let none = says(gemm.run(Arguments::new((2, 3, 3), &a, &short, &mut d)));
    assert!(none.contains("is less than"), "{none}");
    let odd = MatRef::new(&b[..15], (3, 5)).strides(1, 3);
    let odd = says(gemm.run(Arguments::new((2, 3, 3), &a, odd, &mut d)));
    assert!(odd.starts_with("columns of B = 5 is not a multiple of 2; try 6"), "{odd}");
    let wide = MatRef::new(&b[..12], (3, 4)).strides(1, 3);
    let wide = says(gemm.run(Arguments::new((2, 3, 3), &a, wide, &mut d)));
    assert!(wide.starts_with("shape of B = 3 x 4 is not 3 x 6"), "{wide}");
    let unread = says(plain.run(Arguments::new((2, 3, 3), &a, &b, &mut d).up(&b)));
    assert!(unread.starts_with("the up columns of B is not read by the epilogue"), "{unread}");
    let other = MatRef::new(&b, (3, 3)).strides(1, 4);
    let other = says(gemm.run(Arguments::new((2, 3, 3), &a, &b, &mut d).up(other)));
    assert!(
        other.starts_with("strides of the up columns of B = 1 and 4 is not 1 and 3"),
        "{other}"
    );
    let rows = Gemm::<f32>::new().epilogue::<ReGlu>();
    let apart = says(rows.run(Arguments::new((2, 3, 3), &a, &b, &mut d).interleaved_gates()));
    assert!(apart.starts_with("strides of B = 6 and 2 are not contiguous"), "{apart}");
    let indexed = says(gemm.run(Arguments::new((2, 3, 3), &a, &b, &mut d).gather_b(&[0, 1, 2])));
    assert!(
        indexed.starts_with("indices of B is not supported by an epilogue with a gate"),
        "{indexed}"
    );
    // Each matrix of a batch has both, and views give the extents.
    let view = MatRef::new(&b, (3, 6)).strides(1, 3);
    gemm.run(
        Arguments::from_views(MatRef::new(&a, (2, 3)), view, MatMut::new(&mut d, (2, 3)))
            .expect("views"),
    )
    .expect("a result");
    assert_eq!(d, [9.0; 6]);
}

/// Each form of B gives the same D.
#[test]
fn forms_of_b_give_the_same_d() {
    falchion::epilogue! { struct SwiGlu = silu(gate) * up }
    let gemm = Gemm::<f32, RowMajor, f32, ColMajor>::new().epilogue::<SwiGlu>();
    let (m, n, k) = (5, 7, 9);
    let number = |i: usize| (draw(7, i as u64) % 17) as f32 / 8.0 - 1.0;
    let a: Vec<f32> = (0..m * k).map(number).collect();
    let [gate, up]: [Vec<f32>; 2] =
        [1000, 2000].map(|first| (0..n * k).map(|i| number(first + i)).collect());
    let column = |of: &[f32], j: usize| of[j * k..(j + 1) * k].to_vec();
    let halves = [gate.clone(), up.clone()].concat();
    let pairs: Vec<f32> =
        (0..n).flat_map(|j| [column(&gate, j), column(&up, j)].concat()).collect();
    let mut found = [(); 4].map(|()| vec![f32::NAN; m * n]);
    let [one, two, three, four] = &mut found;
    gemm.run(Arguments::new((m, n, k), &a, &halves, one)).expect("a result");
    gemm.run(Arguments::new((m, n, k), &a, &pairs, two).interleaved_gates()).expect("a result");
    gemm.run(Arguments::new((m, n, k), &a, &gate, three).up(&up)).expect("a result");
    let gate = MatRef::new(&gate, (k, n)).strides(1, k as isize);
    gemm.run(
        Arguments::new((m, n, k), &a, gate, four)
            .up(MatRef::new(&up, (k, n)).strides(1, k as isize)),
    )
    .expect("a result");
    let bits = found.map(|d| d.into_iter().map(f32::to_bits).collect::<Vec<_>>());
    assert!(bits.iter().all(|other| *other == bits[0]));
    let dot = |of: &[f32], i: usize, j: usize| -> f64 {
        (0..k).map(|l| f64::from(a[i * k + l]) * f64::from(of[j * k + l])).sum()
    };
    for (place, bits) in bits[0].iter().enumerate() {
        let (gate, up) = (dot(&halves, place / n, place % n), dot(&up, place / n, place % n));
        let wanted = gate / (1.0 + (-gate).exp()) * up;
        assert!((f64::from(f32::from_bits(*bits)) - wanted).abs() <= 1e-5 * (1.0 + wanted.abs()));
    }
}

/// The checked machine gives the bits of the fast mode where all threads follow one schedule, and
/// refuses roles.
#[test]
fn the_checked_machine_runs_gates_of_one_schedule() {
    let (mut ran, mut refused) = (0, 0);
    for (seed, desc) in descriptions(0x6a91, 60) {
        let case = GatedCase::random(&desc, seed, true);
        let checked = case.in_mode(&desc, Mode::Checked { seed });
        if desc.has_producer() {
            let says = checked.expect_err("a refusal").to_string();
            assert!(says.starts_with("mode = checked is not supported by an epilogue"), "{says}");
            refused += 1;
        } else {
            let checked = checked.unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
            assert!(checked == case.on_host(&desc).expect("a result"), "{seed}: {desc:?}");
            ran += 1;
        }
    }
    assert!(ran >= 15 && refused >= 15, "{ran} {refused}");
}

/// The kernel reads both matrices in place, so a call is one launch without a workspace: the wide
/// intermediate is never written. Only misaligned matrices are copied.
#[test]
fn calls_with_gates_need_no_workspace() {
    let mut direct = 0;
    for (types, k_major) in [("bf16", true), ("bf16", false), ("f32", false)] {
        for arch in [ArchKind::Sm80, ArchKind::Sm90] {
            let order = if k_major { "col" } else { "row" };
            let matrices =
                [format!("{types}:row"), format!("{types}:{order}"), format!("{types}:row")];
            let pins = [("epilogue", "silu(gate) * up")];
            let request = Request {
                arch: Some(arch),
                ..request(matrices.each_ref().map(String::as_str), &pins)
            };
            let size = ProblemSize::new((4096, 2 * 8192, 4096));
            let desc = request.resolve_for(arch, size, None).expect("a kernel").desc;
            let problem = Problem::new(&desc, (4096, 8192, 4096), [None; 3], PLAIN);
            let up = problem
                .up
                .map(|up| View { memory: Elements { address: 1 << 30, ..up.memory }, ..up });
            let problem = Problem { up, ..problem };
            let routes = desc.routes(&problem).expect("a valid problem");
            let needs_transpose = desc.op() == OpKind::Simt && desc.has_producer();
            if !needs_transpose {
                assert_eq!(routes.workspace_bytes(), 0, "{desc:?}");
                direct += 1;
            }
            let odd = problem
                .up
                .map(|up| View { memory: Elements { address: (1 << 30) + 2, ..up.memory }, ..up });
            let routes = desc.routes(&Problem { up: odd, ..problem }).expect("a valid problem");
            assert_eq!(routes.workspace_bytes() > 0, desc.has_producer(), "{desc:?}");
        }
    }
    assert!(direct >= 4, "{direct}");
}

/// A case has each form that the layout of B allows.
#[test]
fn cases_have_all_forms() {
    let forms: BTreeSet<_> = descriptions(1, 40)
        .iter()
        .map(|(seed, desc)| GatedCase::random(desc, *seed, true).form)
        .map(|form| format!("{form:?}"))
        .collect();
    assert_eq!(forms.len(), 4, "{forms:?} {:?}", Form::Halves);
}

/// Random numbers have the values of the reference within its bound, for every main loop and MMA,
/// and integers are exact or rounded once.
#[test]
fn gates_have_the_values_of_the_reference() {
    use falchion_lab::owned::HostProduct;
    let mut largest = 0.0f64;
    for (seed, desc) in descriptions(0x6a90, 160) {
        let mut random = Random::new(seed);
        let tile = desc.threadblock();
        let [m, n, k] =
            [tile.m, tile.n / 2, tile.k].map(|tile| 1 + random.below(tile as usize + 9));
        let k = k + (desc.split_k() - 1) as usize * tile.k as usize;
        let mut scalars = [0.0; 8];
        scalars[..3].copy_from_slice(&[1.0, 0.5, 0.75]);
        let problem = Problem::new(&desc, (m, n, k), [None; 3], scalars);
        let matrices = ["aux1", "aux2"].iter().any(|aux| desc.epilogue.to_string().contains(aux));
        let interleaved = !desc.orders().b.is_row() && random.once_in(2);
        let columns = if interleaved { GateColumns::Interleaved } else { GateColumns::Halves };
        let problem = Problem {
            // The reference reads one auxiliary matrix.
            batch: if matrices { 1 } else { 1 + random.below(2) },
            c: if desc.epilogue.has_source() { problem.c } else { Source::None },
            ..problem.with_gate_columns(columns)
        };
        let mut scalars = problem.scalars;
        (scalars[1], scalars[2]) = (
            if desc.epilogue.has_source() { scalars[1] } else { 0.0 },
            if desc.epilogue.ops().contains(&Op::Scalar(2)) { scalars[2] } else { 0.0 },
        );
        let problem = Problem { scalars, ..problem };
        let mut product = HostProduct::poisoned(&desc, &problem)
            .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
        let [from, source] = product.distributions(&desc);
        product.a.draw(from, seed).expect("numbers");
        product.b.draw(from, seed ^ 1).expect("numbers");
        if let Source::Matrix(c) = &mut product.c {
            c.draw(source, seed ^ 2).expect("numbers");
        }
        for (name, operand) in product.operands.iter_mut() {
            operand.draw(source, seed ^ (3 + name.index() as u64)).expect("numbers");
        }
        product.run(&desc, Mode::Fast).unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
        let verdict = product.verify_all(&desc).expect("a verdict");
        assert!(verdict.is_right(), "{verdict}, seed {seed}, {columns:?}\n{desc:?}\n{problem:?}");
        largest = largest.max(verdict.error_over_bound);
    }
    assert!(largest > 0.02 && largest <= 1.0, "{largest}");
}
