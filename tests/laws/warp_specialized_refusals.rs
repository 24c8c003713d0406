//! What warp-specialized kernels are refused for: each sentence names the field, the value and the
//! limit, and the nearest legal value that it names is legal.

use crate::harness::OfFamily;
use crate::harness::{
    advice::advised,
    descriptions::{self, Family, Wanted, description},
    random_cases::{NUMBERS, cases, follow_advice, number, spoiled},
    ring_programs::check_options,
};
use falchion::{
    Refusal,
    arch::{ArchKind, Machine, OpKind},
    desc::{GemmDesc, WarpSpecializedDesc},
    internals::{
        family::{Request, default_gemm_configuration::default_description},
        schedule::ScheduleKind,
    },
    layout::{MatrixType, Order},
    numeric::{Combined, ComputeKind, ElementKind},
    shape::{Mn, Mnk},
    threadblock::MainloopKind,
    threadblock::SwizzleKind,
};
use proptest::{prelude::*, sample::select};

const TURNED: [Order; 3] = [Order::Row, Order::Col, Order::Row];

/// bf16, two warpgroups on a tile of 128 x 256, changed.
fn changed(change: impl FnOnce(&mut WarpSpecializedDesc)) -> GemmDesc {
    of(ElementKind::Bf16, ElementKind::F32, TURNED, change)
}

fn of(
    ab: ElementKind,
    accumulator: ElementKind,
    orders: [Order; 3],
    change: impl FnOnce(&mut WarpSpecializedDesc),
) -> GemmDesc {
    let c = if ab.is_integer() { ElementKind::I32 } else { ab };
    let types = Combined { a: ab, b: ab, accumulator, c };
    let mut d = default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders)
        .expect("a row")
        .roles();
    let bytes = ab.bytes_of(1);
    d.knobs.threadblock = Mnk::new(128, 256, 128 / bytes);
    (d.knobs.warp, d.knobs.instruction) =
        (Mnk::new(64, 256, 128 / bytes), Mnk::new(64, 256, 32 / bytes));
    (d.knobs.stages, d.knobs.schedule) = (4, ScheduleKind::Cooperative);
    change(&mut d);
    d.sum()
}

/// f32 by threads: two consumers of four warps on a tile of 128 x 256, 8 x 16 a thread, changed.
fn threads(change: impl FnOnce(&mut WarpSpecializedDesc)) -> GemmDesc {
    let mut d = descriptions::threads::plain(TURNED, (128, 256, 16), (32, 128), (8, 16)).roles();
    change(&mut d);
    d.sum()
}

/// The variant's name.
fn name(refusal: &Refusal) -> String {
    let text = format!("{refusal:?}");
    text.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
}

#[test]
fn every_refusal_names_field_value_limit_and_a_nearest_value_that_is_legal() {
    use ElementKind::{E4m3, F16, F32, F64, I8, I32};
    let both = |d: &mut WarpSpecializedDesc, m, n| {
        (d.knobs.warp, d.knobs.threadblock) =
            (Mnk { m, n, ..d.knobs.warp }, Mnk { m, n, ..d.knobs.threadblock })
    };
    let along_n = [Order::Row, Order::Row, Order::Row];
    #[rustfmt::skip]
    let table: Vec<(GemmDesc, &str, &[&str], bool)> = vec![
        (changed(|d| d.class.arch = ArchKind::Sm80), "HopperAlone", &["warp", "sm90 alone", "arch = sm80", "try sm90"], true),
        (changed(|d| d.class.op = OpKind::Simt), "OnTensorCores", &["op = simt", "try tensorop"], true),
        (changed(|d| d.class.b.element = ElementKind::F16), "NoSuchCombination", &["bf16 by f16"], false),
        (changed(|d| (d.class.a.element, d.class.b.element, d.class.accumulator, d.class.output.element) = (F64, F64, F64, F64)), "OtherMainloop", &["mainloop = warpspecialized", "try multistage"], false),
        (changed(|d| d.knobs.schedule = ScheduleKind::Pingpong), "OutOfRange", &["warpgroups of a tile that pingpong gives to one = 2", "try 1, or take --schedule cooperative"], false),
        (changed(|d| d.knobs.pending = 4), "OutOfRange", &["pending = 4", "0 to 3", "try 3"], true),
        (changed(|d| d.knobs.instruction.m = 16), "OutOfRange", &["instruction M = 16", "64 to 64", "try 64"], true),
        (changed(|d| d.knobs.instruction.k = 8), "OutOfRange", &["instruction K = 8", "16 to 16", "try 16"], true),
        (changed(|d| d.knobs.instruction.n = 264), "OutOfRange", &["instruction N = 264", "8 to 256", "try 256"], true),
        (changed(|d| d.knobs.instruction.n = 100), "NotMultiple", &["instruction N = 100", "multiple of 8", "try 104"], true),
        (of(I8, I32, TURNED, |d| { d.knobs.instruction.n = 40; both(d, 64, 40) }), "NotMultiple", &["instruction N = 40", "multiple of 16", "try 48"], true),
        (changed(|d| d.knobs.warp.k = 32), "OutOfRange", &["warp K = 32", "64 to 64", "try 64"], true),
        (changed(|d| d.knobs.threadblock.k = 128), "OutOfRange", &["threadblock K = 128", "64 to 64", "try 64"], true),
        (changed(|d| d.knobs.warp.m = 32), "OutOfRange", &["warp M = 32", "64 to 512", "try 64"], true),
        (changed(|d| d.knobs.warp.m = 72), "NotMultiple", &["warp M = 72", "multiple of 64", "try 128"], true),
        (changed(|d| { d.knobs.instruction.n = 96; d.knobs.warp.n = 500 }), "NotMultiple", &["warp N = 500", "multiple of 96", "try 480"], true),
        (changed(|d| d.knobs.threadblock.m = 520), "OutOfRange", &["threadblock M = 520", "64 to 512", "try 512"], true),
        (changed(|d| d.knobs.threadblock.m = 100), "NotMultiple", &["threadblock M = 100", "multiple of 64", "try 128"], true),
        (changed(|d| d.knobs.threadblock.n = 0), "OutOfRange", &["threadblock N = 0", "8 to 512", "try 8"], true),
        (changed(|d| d.knobs.threadblock.n = 300), "NotMultiple", &["threadblock N = 300", "multiple of 256", "try 512"], true),
        (changed(|d| d.knobs.threadblock.m = 256), "OutOfRange", &["warpgroups that multiply = 4", "1 to 3"], false),
        (changed(|d| d.knobs.cluster = Mn { m: 9, n: 1 }), "OutOfRange", &["cluster M = 9", "1 to 8", "try 8"], true),
        (changed(|d| d.knobs.cluster = Mn { m: 2, n: 2 }), "ClusterAlongBothAxes", &["cluster = 2x2", "use 2x1 or 1x2"], true),
        (changed(|d| { d.knobs.instruction.n = 8; d.knobs.cluster.m = 4; (d.knobs.warp.n, d.knobs.threadblock.n) = (16, 16) }), "UnevenBoxes",
            &["cluster M = 4", "boxes of a tile evenly", "try 2"], true),
        (changed(|d| { d.knobs.instruction.n = 8; (d.knobs.warp.n, d.knobs.threadblock.n) = (8, 8) }), "NotMultiple", &["warp N = 8", "multiple of 16", "try 16"], true),
        (of(F16, F32, along_n, |d| { d.knobs.instruction.n = 96; (d.knobs.warp.n, d.knobs.threadblock.n) = (96, 96) }), "NotMultiple",
            &["instruction N where B is N-major = 96", "multiple of 64", "try 128"], true),
        (of(F16, F32, along_n, |d| { d.knobs.instruction.n = 96; (d.knobs.warp, d.knobs.threadblock) = (Mnk { m: 64, n: 96, ..d.knobs.warp }, Mnk { m: 64, n: 192, ..d.knobs.threadblock }) }), "NotMultiple",
            &["instruction N where B is N-major = 96", "multiple of 64", "try 128"], true),
        (changed(|d| d.knobs.stages = 1), "OutOfRange", &["stages = 1", "2 to 16", "try 2"], true),
        (changed(|d| d.knobs.stages = 17), "OutOfRange", &["stages = 17", "2 to 16", "try 16"], true),
        (changed(|d| d.knobs.stages = 5), "SharedMemory", &["5 stages of 49152", "sm_90 has", "try stages = 4"], true),
        (changed(|d| d.knobs.align_a = 4), "NotOneOf", &["alignment of A = 4", "16 bytes of TMA", "try 8"], true),
        (of(I8, I32, TURNED, |d| d.knobs.align_b = 8), "NotOneOf", &["alignment of B = 8", "16 bytes of TMA", "try 16"], true),
        (changed(|d| d.knobs.align_c = 16), "NotOneOf", &["alignment of C = 16", "1, 2, 4, 8", "try 8"], true),
        (changed(|d| d.knobs.swizzle = SwizzleKind::Grouped(65)), "OutOfRange", &["swizzle = 65", "1 to 64", "try 64"], true),
        (changed(|d| both(d, 128, 256)), "Registers", &["registers", "256 threads"], false),
        (changed(|d| { (d.knobs.threadblock, d.knobs.warp) = (Mnk { m: 192, n: 208, ..d.knobs.threadblock }, Mnk { n: 208, ..d.knobs.warp }); d.knobs.instruction.n = 208; d.knobs.stages = 2 }), "Registers",
            &["130 registers", "512 threads", "128"], false),
        (changed(|d| d.class.compute = ComputeKind::F64), "Compute", &["try f32"], true),
        (changed(|d| (d.class.a.element, d.class.b.element, d.class.output.element) = (E4m3, E4m3, F64)), "NoSuchCombination", &["e4m3 by e4m3"], false),
    ];
    #[rustfmt::skip]
    let of_threads: Vec<(GemmDesc, &str, &[&str], bool)> = vec![
        (threads(|d| d.class.arch = ArchKind::Sm80), "HopperAlone", &["arch = sm80", "try sm90"], true),
        (threads(|d| (d.class.a.element, d.class.b.element, d.class.accumulator, d.class.output.element) = (F64, F64, F64, F64)), "OnTensorCores", &["all but f32", "op = simt"], true),
        (threads(|d| d.knobs.instruction.m = 2), "OutOfRange", &["instruction M = 2", "4 to 16", "try 4"], true),
        (threads(|d| d.knobs.instruction.n = 18), "OutOfRange", &["instruction N = 18", "4 to 16", "try 16"], true),
        (threads(|d| d.knobs.instruction.m = 6), "NotMultiple", &["instruction M = 6", "multiple of 4", "try 8"], true),
        (threads(|d| d.knobs.instruction.k = 8), "OutOfRange", &["instruction K = 8", "1 to 1", "try 1"], true),
        (threads(|d| d.knobs.warp.m = 24), "NotOneOf", &["warp M = 24", "2, 4, 8 and 16 times instruction M", "try 32"], true),
        (threads(|d| d.knobs.warp.m = 1000), "NotOneOf", &["warp M = 1000", "try 128"], true),
        (threads(|d| d.knobs.warp.n = 64), "OutOfRange", &["warp N = 64", "128 to 128", "try 128"], true),
        (threads(|d| d.knobs.threadblock.k = 72), "OutOfRange", &["threadblock K = 72", "8 to 64", "try 64"], true),
        (threads(|d| d.knobs.threadblock.k = 12), "NotMultiple", &["threadblock K = 12", "multiple of 8", "try 16"], true),
        (threads(|d| d.knobs.warp.k = 8), "OutOfRange", &["warp K = 8", "16 to 16", "try 16"], true),
        (threads(|d| d.knobs.threadblock.m = 0), "OutOfRange", &["threadblock M = 0", "32 to 512", "try 32"], true),
        (threads(|d| d.knobs.threadblock.m = 100), "NotMultiple", &["threadblock M = 100", "multiple of 32", "try 128"], true),
        (threads(|d| d.knobs.threadblock.m = 96), "NotMultiple", &["warps that multiply, in warpgroups of 4 = 6", "multiple of 4"], false),
        (threads(|d| d.knobs.threadblock.n = 512), "OutOfRange", &["warps that multiply, in warpgroups of 4 = 16", "4 to 12"], false),
        (threads(|d| d.knobs.schedule = ScheduleKind::Pingpong), "OutOfRange", &["warps of a tile that pingpong gives to one warpgroup = 8", "try 4"], false),
        (threads(|d| d.knobs.cluster = Mn { m: 2, n: 2 }), "ClusterAlongBothAxes", &["cluster = 2x2", "use 2x1 or 1x2"], true),
        (threads(|d| d.knobs.cluster.m = 4), "UnevenBoxes", &["cluster M = 4", "boxes of a tile evenly", "try 2"], true),
        (threads(|d| { (d.knobs.warp, d.knobs.threadblock) = (Mnk::new(8, 64, 8), Mnk::new(8, 256, 8)); (d.knobs.instruction.m, d.knobs.instruction.n) = (4, 4) }), "NotMultiple",
            &["threadblock K where stages are whole kilobytes = 8", "multiple of 32", "try 32"], true),
        (threads(|d| d.knobs.stages = 1), "OutOfRange", &["stages = 1", "2 to 16", "try 2"], true),
        (threads(|d| d.knobs.stages = 10), "SharedMemory", &["10 stages of 24576", "sm_90 has", "try stages = 9"], true),
        (threads(|d| { (d.knobs.warp, d.knobs.threadblock) = (Mnk::new(64, 96, 16), Mnk::new(128, 192, 16)); (d.knobs.instruction.m, d.knobs.instruction.n) = (16, 12) }), "Registers",
            &["288 registers", "256 threads", "248"], false),
        (threads(|d| d.knobs.align_a = 2), "NotOneOf", &["alignment of A = 2", "16 bytes of TMA", "try 4"], true),
    ];
    assert_eq!(threads(|_| ()).check(), Ok(()));
    for (desc, variant, words, nearest) in table.into_iter().chain(of_threads) {
        let refusal = desc.check().expect_err(variant);
        let sentence = refusal.to_string();
        println!("{sentence}");
        assert_eq!(name(&refusal), variant, "{sentence}");
        words
            .iter()
            .for_each(|word| assert!(sentence.contains(word), "{sentence}: lacks {word:?}"));
        let advice = advised(desc, &refusal);
        assert_eq!(advice.is_some(), nearest, "{sentence}");
        if let Some(advice) = advice {
            assert_ne!(
                advice.check(),
                Err(refusal),
                "the advice is refused for the same: {sentence}"
            );
        }
    }
}

#[test]
fn a_machine_that_is_not_hopper_is_named() {
    let machine = Machine { sm: 100, ..ArchKind::Sm90.machine() };
    let sentence = changed(|_| ()).check_on(&machine).expect_err("a newer machine").to_string();
    assert!(
        sentence.contains("sm90 alone has; this machine has sm100")
            && sentence.contains("op simt has kernels"),
        "{sentence}"
    );
    let sentence = changed(|_| ())
        .check_on(&ArchKind::Sm80.machine())
        .expect_err("an older machine")
        .to_string();
    assert!(sentence.contains("instructions of sm90"), "{sentence}");
}

/// A knob of another family is refused by its flag.
#[test]
fn a_knob_of_another_family_is_named() {
    let f32 = ElementKind::F32;
    for (op, kind, knob, value, flag, mainloop) in [
        (
            OpKind::TensorOp,
            ElementKind::E4m3,
            "blocks_per_sm",
            "2",
            "--blocks-per-sm",
            "warpspecialized",
        ),
        (OpKind::Simt, f32, "cluster", "2x1", "--cluster", "multistage"),
        (OpKind::Simt, f32, "schedule", "pingpong", "--schedule", "multistage"),
        (OpKind::Simt, f32, "promotion", "stage", "--promotion", "multistage"),
        (OpKind::Simt, f32, "emulation", "f16x3", "--emulation", "multistage"),
        (OpKind::Simt, f32, "a_operand", "registers", "--a-operand", "multistage"),
        (OpKind::Simt, f32, "instruction", "8x8x1", "--instruction", "multistage"),
    ] {
        let a = Some(MatrixType { element: kind, order: Order::Row });
        let knobs = vec![(knob.to_owned(), value.to_owned())];
        let (arch, other) = if op == OpKind::Simt {
            (ArchKind::Sm80, "warpspecialized")
        } else {
            (ArchKind::Sm90, "multistage")
        };
        let request = Request { a, op: Some(op), knobs, ..Request::default() };
        let sentence = request.resolve(arch).expect_err("another family's").to_string();
        assert_eq!(
            sentence,
            format!("{flag} is not a knob of the {mainloop} main loop; the {other} one has it")
        );
    }
}

/// A knob of another family is its family's word, where that computes the product.
#[test]
fn a_knob_of_another_family_selects_it() {
    let f32 = Some(MatrixType { element: ElementKind::F32, order: Order::Row });
    for (knob, value) in
        [("cluster", "2x1"), ("mainloop", "warpspecialized"), ("instruction", "16x8x1")]
    {
        let request = Request {
            a: f32,
            knobs: vec![(knob.to_owned(), value.to_owned())],
            ..Request::default()
        };
        let desc = request.resolve(ArchKind::Sm90).expect("f32 by TMA").desc;
        assert_eq!(desc.family.mainloop(), MainloopKind::WarpSpecialized, "{knob}");
    }
}

/// What looks at threads that all follow one schedule says so.
#[test]
fn a_warp_specialized_kernel_is_no_program_of_one_schedule() {
    let d = changed(|_| ());
    let sentence = d.as_simt().expect_err("roles").to_string();
    assert!(
        sentence.starts_with("mainloop = ") && sentence.ends_with("is not; try multistage"),
        "{sentence}"
    );
}

/// Of a column-major D the kernel's A is the user's B: the sentence names the user's.
#[test]
fn the_operand_that_is_named_is_the_user_s() {
    let matrix = |element, order| Some(MatrixType { element, order });
    let (i8, i32) = (ElementKind::I8, ElementKind::I32);
    for (knob, named) in [("align_a", "alignment of A"), ("align_b", "alignment of B")] {
        for c in [Order::Row, Order::Col] {
            let request = Request {
                a: matrix(i8, Order::Row),
                b: matrix(i8, Order::Col),
                c: matrix(i32, c),
                op: Some(OpKind::TensorOp),
                knobs: [(knob, "4"), ("mainloop", "warpspecialized")]
                    .map(|(name, words)| (name.to_owned(), words.to_owned()))
                    .into(),
                ..Request::default()
            };
            let sentence =
                request.resolve(ArchKind::Sm90).expect_err("less than a vector").to_string();
            assert!(sentence.starts_with(named), "{sentence}");
        }
    }
}

fn legal() -> impl Strategy<Value = GemmDesc> {
    let of = |threads| Wanted {
        family: if threads { Family::Threads } else { Family::WarpSpecialized },
        ..Wanted::default()
    };
    (any::<u64>(), any::<bool>())
        .no_shrink()
        .prop_map(move |(seed, threads)| description(seed, of(threads)))
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn advice_leads_to_a_kernel_or_to_a_sentence_without_advice(d in legal(), spoils in proptest::collection::vec((0..NUMBERS, number()), 1..4)) {
        follow_advice(spoils.into_iter().fold(d, |d, (field, x)| spoiled(d, field, x)), advised)?;
    }

    /// Numbers and types of any kind: a sentence or a kernel, and never a panic.
    #[test]
    fn no_spoiled_description_panics(
        d in legal(),
        spoils in proptest::collection::vec((0..NUMBERS, number()), 1..6),
        kinds in proptest::option::of([select(ElementKind::ALL.to_vec()), select(ElementKind::ALL.to_vec()), select(ElementKind::ALL.to_vec())]),
    ) {
        let mut d = spoils.into_iter().fold(d, |d, (field, x)| spoiled(d, field, x));
        if let Some([ab, accumulator, c]) = kinds {
            (d.class.a.element, d.class.b.element, d.class.accumulator, d.class.output.element) = (ab, ab, accumulator, c);
        }
        let _ = (d.threads(), d.smem_bytes(), d.components());
        match d.check() {
            Ok(()) => {
                let components = d.components().expect("it checks");
                check_options(&components.ring, &components.options);
                prop_assert!(falchion_lab::explain::facts(&d.explain().expect("it checks")).len() > 5);
            }
            Err(refusal) => prop_assert!(refusal.to_string().len() > 20),
        }
    }
}
