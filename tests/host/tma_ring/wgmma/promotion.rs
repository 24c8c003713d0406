//! fp8 accumulators that are promoted to f32 after each stage: their exact bits, and their error
//! bound.

use crate::harness::{prelude::*, product::try_compute, random_cases};

const TYPES: Combined = element_types(ElementKind::E4m3, ElementKind::F32, ElementKind::F32);
const ORDERS: [Order; 3] = [Order::Row, Order::Col, Order::Row];
const SIZES: [usize; 3] = [150, 140, 600];

fn promoted() -> GemmDesc {
    random_cases::promoted(TYPES, ORDERS)
}

/// Returns numbers of all magnitudes, for which fp8 accumulation loses bits.
fn numbers(seed: u64, count: usize) -> Vec<E4m3> {
    let number = |i| E4m3::from_f64((draw(seed, i) >> 40) as f64 / f64::from(1 << 20) - 8.0);
    (0..count as u64).map(number).collect()
}

fn extents() -> (usize, usize, usize) {
    (SIZES[0], SIZES[1], SIZES[2])
}

fn computed(desc: &GemmDesc, mode: Mode) -> Vec<f32> {
    tried(desc, mode).unwrap_or_else(|error| panic!("{error}"))
}

fn tried(
    kernel: &impl for<'a> CheckedKernel<Call<'a> = HostCall<'a>>,
    mode: Mode,
) -> Result<Vec<f32>, Error> {
    let (a, b) = (numbers(1, SIZES[0] * SIZES[2]), numbers(2, SIZES[2] * SIZES[1]));
    try_compute::<E4m3, f32>(&promoted(), kernel, mode, extents(), ([&a, &b], f32::NAN))
}

/// Every element in both modes, bit by bit:
/// `D[i, j] = Instruction::promoted_every(128).sum(A[i, :], B[:, j])`, with K padded with zeros to
/// whole stages. A sum without promotion has other bits.
#[test]
fn every_element_is_a_sum_of_promoted_stages() {
    let ([m, n, k], own) =
        (SIZES, Instruction::for_types(TYPES, ArchKind::Sm90).expect("Hopper multiplies e4m3"));
    let every = own.promoted_every(128);
    let (a, b) = (numbers(1, m * k), numbers(2, k * n));
    let line = |of: &[E4m3], at: usize| {
        let mut line: Vec<f32> = of[at * k..][..k].iter().map(|x| x.widen()).collect();
        line.resize(640, 0.0);
        line
    };
    let fast = computed(&promoted(), Mode::Fast);
    let never = computed(&default_of(OpKind::TensorOp, ArchKind::Sm90, TYPES, ORDERS), Mode::Fast);
    let mut others = 0;
    for (at, (i, j)) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).enumerate() {
        let (row, column) = (line(&a, i), line(&b, j));
        assert_eq!(fast[at].to_bits(), every.sum(&row, &column).to_bits(), "D({i}, {j})");
        assert_eq!(never[at].to_bits(), own.sum(&row, &column).to_bits(), "D({i}, {j})");
        others += usize::from(fast[at].to_bits() != never[at].to_bits());
    }
    println!("{others} of {} accumulators have other bits without promotion", m * n);
    assert!(others > m * n / 2);

    let tile = |m, n| Mnk { m, n, k: 128 };
    let pingpong = but!(promoted(), threadblock: tile(128, 128), schedule: ScheduleKind::Pingpong);
    let narrow = but!(promoted(), instruction: Mnk { m: 64, n: 64, k: 32 });
    let one_part = but!(promoted(), threadblock: tile(64, 128), warp: tile(64, 128));
    for desc in [promoted(), pingpong, narrow, one_part] {
        assert_eq!(desc.check(), Ok(()));
        let bits = |d: Vec<f32>| d.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        assert_eq!(
            bits(computed(&desc, Mode::Checked { seed: 5 })),
            bits(fast.clone()),
            "{desc:?}"
        );
    }
}

/// The checked mode promotes as the schedule says. It reports a fault if an instruction tile is
/// promoted as another one, or never. A schedule without promotion changes the bits.
#[test]
fn a_wrong_promotion_schedule_is_found() {
    let right = WarpSpecializedProgram::new(&promoted()).expect("a program");
    let run = |program: &WarpSpecializedProgram| tried(program, Mode::Checked { seed: 3 });
    // The fast mode depends on the description only, so a changed schedule has no effect there.
    let refused = tried(&right, Mode::Fast).message();
    let nearest = MULTISTAGE_OR_OTHER[0];
    assert_eq!(
        refused,
        format!(
            "mainloop = warpspecialized is not supported by a program of one schedule; try {nearest}"
        )
    );
    let fast = computed(&promoted(), Mode::Fast);
    assert_eq!(run(&right).unwrap_or_else(|error| panic!("{error}")), fast);
    let changes: [fn(&mut Vec<RoleStep>); 3] = [
        |body| body.retain(|step| *step != RoleStep::Promote { tile: 1 }),
        |body| {
            for step in body {
                if let RoleStep::Promote { tile } = step {
                    *tile = 0;
                }
            }
        },
        |body| body.retain(|step| !matches!(step, RoleStep::AwaitProducts { .. })),
    ];
    for change in changes {
        let mut program = right.clone();
        change(program.ring.roles.schedule_mut(Role::Consumer).steps_mut(Section::Body));
        println!("{}", run(&program).expect_err("a fault"));
    }
    let never = but!(promoted(), promotion: PromotionKind::Never);
    let never = WarpSpecializedProgram::new(&never).expect("a program");
    assert_ne!(run(&never).unwrap_or_else(|error| panic!("{error}")), fast);
}

/// `|sum - exact| <= (gamma_4(u) + gamma_(K/128 - 1)(2^-24) + ..) |A||B|`: with promotion, the
/// bound is finite for every K up to 2^29. Without promotion, it is infinite above K = 3840.
#[test]
fn the_bound_of_promoted_sums_holds_for_deep_products() {
    let never = but!(promoted(), promotion: PromotionKind::Never);
    for k in [128, 3840, 4096, 16384, 1 << 29] {
        let (with, without) = (
            Accumulation::for_description(&promoted(), k).relative,
            Accumulation::for_description(&never, k).relative,
        );
        assert!(with < 0.5 && with > 0.01, "{k}: {with}");
        assert_eq!(without.is_finite(), k <= 3840, "{k}: {without}");
        // The first stage is added to 0, which does not round.
        assert!(k > 128 || with == without, "{k}: {with} and {without}");
        assert!(k < 1024 || with < without / 2.0, "{k}: {with} and {without}");
    }
}

/// Only fp8 accumulators in f32 can be promoted, and only small accumulators leave registers for
/// partial sums. The refusals say so.
#[test]
fn invalid_promotions_are_refused() {
    let stage = |types: Combined, op| {
        let d = default_of(op, ArchKind::Sm90, types, ORDERS);
        but!(d, promotion: PromotionKind::Stage).check().message()
    };
    let of = |ab, c| {
        element_types(
            ab,
            if ab == ElementKind::I8 { ElementKind::I32 } else { ElementKind::F32 },
            c,
        )
    };
    for types in [
        of(ElementKind::Bf16, ElementKind::Bf16),
        of(ElementKind::Tf32, ElementKind::F32),
        of(ElementKind::I8, ElementKind::I32),
    ] {
        assert_eq!(
            stage(types, OpKind::TensorOp),
            "promotion = stage is not supported by the warpspecialized main loop (accumulators of fp8 or emulated f32 only); try never"
        );
    }
    let wide = |(m, n)| Mnk { m, n, k: 128 };
    let instruction = Mnk { m: 64, n: 256, k: 32 };
    let full = but!(promoted(), threadblock: wide((128, 256)), warp: wide((64, 256)), instruction);
    let full = full.check().message();
    assert_eq!(
        full,
        "registers per thread = 296 exceeds 240 (384 threads per block, 1 block per multiprocessor); use a smaller warp tile, or spills = allowed"
    );
    let tile = |m, n| Mnk { m, n, k: 128 };
    let tiny = but!(promoted(), threadblock: tile(512, 512), warp: tile(512, 512), instruction: Mnk { m: 64, n: 8, k: 32 });
    let tiny = tiny.check().message();
    assert_eq!(tiny, "instruction N = 8 is outside 24 to 256 (promotion = stage); try 24");
}

/// A type that pins the knob selects the default with promotion, as the flag does.
#[test]
fn a_type_can_pin_promotion() {
    type Product = HopperK<E4m3, f32, RowMajor, With<Auto, PromoteEachStage>>;
    assert_eq!(Product::new().desc(), promoted());
}

/// A request that pins only the promotion gets tiles with enough registers. Other pins are kept.
#[test]
fn a_request_for_promotion_resolves_to_its_default() {
    let request = request(["e4m3:row", "e4m3:col", "f32:row"], &[("promotion", "stage")]);
    let request = Request { op: Some(OpKind::TensorOp), ..request };
    let desc = request.resolve(ArchKind::Sm90).expect("a kernel").desc;
    assert_eq!(desc, promoted());
    let facts = format!("{:?}", falchion_lab::explain::facts(&desc.explain().expect("it checks")));
    assert!(facts.contains("every 128 of K, from 64 registers"), "{facts}");
    let mut narrower = request;
    narrower.knobs.push(("stages".to_owned(), "3".to_owned()));
    assert_eq!(
        narrower.resolve(ArchKind::Sm90).expect("a kernel").desc,
        but!(promoted(), stages: 3)
    );
}
