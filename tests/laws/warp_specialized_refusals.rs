//! What kernels whose warpgroups have roles are refused for: each sentence names the field, the value and the limit, and the
//! nearest legal value that it names is legal.

use crate::harness::{
    advice::advised,
    descriptions::{self, Family, Wanted, description},
    drawn::{NUMBERS, cases, follow_advice, number, spoiled},
};
use falchion::{
    Refusal,
    arch::{ArchKind, Machine, OpKind},
    desc::GemmDesc,
    internals::{
        call::Shapes,
        family::{Request, default_gemm_configuration::default_description},
        schedule::ScheduleKind,
    },
    layout::{MatrixType, Order},
    numeric::{Combined, ComputeKind, ElementKind},
    shape::{Mn, Mnk},
    threadblock::{Along, Program, SmemLayout, SwizzleKind},
    warp::{InterleaveKind, UnrollKind},
};
use falchion_lab::{banks, counters::count};
use proptest::{prelude::*, sample::select};

const TURNED: [Order; 3] = [Order::Row, Order::Col, Order::Row];

/// bf16, two warpgroups on a tile of 128 x 256, changed.
fn changed(change: impl FnOnce(&mut GemmDesc)) -> GemmDesc {
    of(ElementKind::Bf16, ElementKind::F32, TURNED, change)
}

fn of(ab: ElementKind, accumulator: ElementKind, orders: [Order; 3], change: impl FnOnce(&mut GemmDesc)) -> GemmDesc {
    let c = if ab.is_integer() { ElementKind::I32 } else { ab };
    let types = Combined { a: ab, b: ab, accumulator, c };
    let mut d = default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders).expect("a row");
    let bytes = ab.bytes_of(1);
    d.threadblock = Mnk::new(128, 256, 128 / bytes);
    (d.warp, d.instruction) = (Mnk::new(64, 256, 128 / bytes), Mnk::new(64, 256, 32 / bytes));
    (d.stages, d.schedule) = (4, ScheduleKind::Cooperative);
    change(&mut d);
    d
}

/// f32 by threads: two consumers of four warps on a tile of 128 x 256, 8 x 16 a thread, changed.
fn threads(change: impl FnOnce(&mut GemmDesc)) -> GemmDesc {
    let mut d = descriptions::threads::plain(TURNED, (128, 256, 16), (32, 128), (8, 16));
    change(&mut d);
    d
}

/// The variant's name.
fn name(refusal: &Refusal) -> String {
    let text = format!("{refusal:?}");
    text.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
}

#[test]
fn every_refusal_names_field_value_limit_and_a_nearest_value_that_is_legal() {
    use ElementKind::{E4m3, F16, F32, F64, I8, I32};
    let both = |d: &mut GemmDesc, m, n| (d.warp, d.threadblock) = (Mnk { m, n, ..d.warp }, Mnk { m, n, ..d.threadblock });
    let along_n = [Order::Row, Order::Row, Order::Row];
    let padded = SmemLayout::Padded { along: Along::K, padding: 8 };
    #[rustfmt::skip]
    let table: Vec<(GemmDesc, &str, &[&str], bool)> = vec![
        (changed(|d| d.arch = ArchKind::Sm80), "HopperAlone", &["warp", "sm90 alone", "arch = sm80", "nearest is sm90"], true),
        (changed(|d| d.op = OpKind::Simt), "OnTensorCores", &["op = simt", "nearest is tensorop"], true),
        (changed(|d| d.b = ElementKind::F16), "NoSuchCombination", &["bf16 by f16"], false),
        (changed(|d| (d.a, d.b, d.accumulator, d.c) = (F64, F64, F64, F64)), "OfOtherUnits", &["f64 by f64", "on tensor cores", "op simt"], false),
        (changed(|d| d.schedule = ScheduleKind::Pingpong), "OutOfRange", &["warpgroups of a tile that pingpong gives to one = 2", "nearest is 1"], false),
        (changed(|d| d.instruction.m = 16), "OutOfRange", &["instruction M = 16", "64 to 64", "nearest is 64"], true),
        (changed(|d| d.instruction.k = 8), "OutOfRange", &["instruction K = 8", "16 to 16", "nearest is 16"], true),
        (changed(|d| d.instruction.n = 264), "OutOfRange", &["instruction N = 264", "8 to 256", "nearest is 256"], true),
        (changed(|d| d.instruction.n = 100), "NotMultiple", &["instruction N = 100", "multiple of 8", "nearest is 104"], true),
        (of(I8, I32, TURNED, |d| { d.instruction.n = 40; both(d, 64, 40) }), "NotMultiple", &["instruction N = 40", "multiple of 16", "nearest is 48"], true),
        (changed(|d| d.warp.k = 32), "OutOfRange", &["warp K = 32", "64 to 64", "nearest is 64"], true),
        (changed(|d| d.threadblock.k = 128), "OutOfRange", &["threadblock K = 128", "64 to 64", "nearest is 64"], true),
        (changed(|d| d.warp.m = 32), "OutOfRange", &["warp M = 32", "64 to 512", "nearest is 64"], true),
        (changed(|d| d.warp.m = 72), "NotMultiple", &["warp M = 72", "multiple of 64", "nearest is 128"], true),
        (changed(|d| { d.instruction.n = 96; d.warp.n = 500 }), "NotMultiple", &["warp N = 500", "multiple of 96", "nearest is 480"], true),
        (changed(|d| d.threadblock.m = 520), "OutOfRange", &["threadblock M = 520", "64 to 512", "nearest is 512"], true),
        (changed(|d| d.threadblock.m = 100), "NotMultiple", &["threadblock M = 100", "multiple of 64", "nearest is 128"], true),
        (changed(|d| d.threadblock.n = 0), "OutOfRange", &["threadblock N = 0", "8 to 512", "nearest is 8"], true),
        (changed(|d| d.threadblock.n = 300), "NotMultiple", &["threadblock N = 300", "multiple of 256", "nearest is 512"], true),
        (changed(|d| d.threadblock.m = 256), "OutOfRange", &["warpgroups that multiply = 4", "1 to 3"], false),
        (changed(|d| d.cluster = Mn { m: 9, n: 1 }), "OutOfRange", &["cluster M = 9", "1 to 8", "nearest is 8"], true),
        (changed(|d| d.cluster = Mn { m: 2, n: 2 }), "OutOfRange", &["cluster N = 2", "1 to 1", "nearest is 1"], true),
        (changed(|d| { d.instruction.n = 8; d.cluster.m = 4; (d.warp.n, d.threadblock.n) = (16, 16) }), "UnevenBoxes",
            &["cluster M = 4", "boxes of a tile evenly", "nearest is 2"], true),
        (changed(|d| { d.instruction.n = 8; (d.warp.n, d.threadblock.n) = (8, 8) }), "NotMultiple", &["warp N = 8", "multiple of 16", "nearest is 16"], true),
        (of(F16, F32, along_n, |d| { d.instruction.n = 96; (d.warp.n, d.threadblock.n) = (96, 96) }), "NotMultiple",
            &["instruction N where B is contiguous along N = 96", "multiple of 64", "nearest is 128"], true),
        (of(F16, F32, along_n, |d| { d.instruction.n = 96; (d.warp, d.threadblock) = (Mnk { m: 64, n: 96, ..d.warp }, Mnk { m: 64, n: 192, ..d.threadblock }) }), "NotMultiple",
            &["instruction N where B is contiguous along N = 96", "multiple of 64", "nearest is 128"], true),
        (changed(|d| d.stages = 1), "OutOfRange", &["stages = 1", "2 to 16", "nearest is 2"], true),
        (changed(|d| d.stages = 17), "OutOfRange", &["stages = 17", "2 to 16", "nearest is 16"], true),
        (changed(|d| d.stages = 5), "SharedMemory", &["5 stages of 49152", "sm_90 has", "stages is 4"], true),
        (changed(|d| d.align_a = 4), "NotOneOf", &["alignment of A = 4", "16 bytes of the copy engine", "nearest is 8"], true),
        (of(I8, I32, TURNED, |d| d.align_b = 8), "NotOneOf", &["alignment of B = 8", "16 bytes of the copy engine", "nearest is 16"], true),
        (changed(|d| d.align_c = 16), "NotOneOf", &["alignment of C = 16", "1, 2, 4, 8", "nearest is 8"], true),
        (changed(|d| d.swizzle = SwizzleKind::Grouped(65)), "OutOfRange", &["swizzle = 65", "1 to 64", "nearest is 64"], true),
        (changed(|d| d.blocks_per_sm = 2), "OutOfRange", &["blocks per multiprocessor = 2", "1 to 1", "nearest is 1"], true),
        (changed(|d| d.smem_a = padded), "NoChoice", &["layout of A in shared memory", "nearest is auto"], true),
        (changed(|d| d.smem_b = padded), "NoChoice", &["layout of B in shared memory", "nearest is auto"], true),
        (changed(|d| d.interleave = InterleaveKind::Elements(2)), "NoChoice", &["interleave", "nearest is vector"], true),
        (changed(|d| d.unroll = UnrollKind::By(2)), "NoChoice", &["unroll", "nearest is full"], true),
        (changed(|d| both(d, 128, 256)), "Registers", &["registers", "256 threads"], false),
        (changed(|d| { (d.threadblock, d.warp) = (Mnk { m: 192, n: 208, ..d.threadblock }, Mnk { n: 208, ..d.warp }); d.instruction.n = 208; d.stages = 2 }), "Registers",
            &["130 registers", "512 threads", "128"], false),
        (changed(|d| d.compute = ComputeKind::F64), "Compute", &["nearest is f32"], true),
        (changed(|d| (d.a, d.b, d.c) = (E4m3, E4m3, F64)), "NoSuchCombination", &["e4m3 by e4m3"], false),
    ];
    #[rustfmt::skip]
    let of_threads: Vec<(GemmDesc, &str, &[&str], bool)> = vec![
        (threads(|d| d.arch = ArchKind::Sm80), "HopperAlone", &["arch = sm80", "nearest is sm90"], true),
        (threads(|d| (d.a, d.b, d.accumulator, d.c) = (F64, F64, F64, F64)), "OnTensorCores", &["all but f32", "op = simt"], true),
        (threads(|d| d.instruction.m = 2), "OutOfRange", &["instruction M = 2", "4 to 16", "nearest is 4"], true),
        (threads(|d| d.instruction.n = 18), "OutOfRange", &["instruction N = 18", "4 to 16", "nearest is 16"], true),
        (threads(|d| d.instruction.m = 6), "NotMultiple", &["instruction M = 6", "multiple of 4", "nearest is 8"], true),
        (threads(|d| d.instruction.k = 8), "OutOfRange", &["instruction K = 8", "1 to 1", "nearest is 1"], true),
        (threads(|d| d.warp.m = 24), "NotOneOf", &["warp M = 24", "2, 4, 8 and 16 times instruction M", "nearest is 32"], true),
        (threads(|d| d.warp.m = 1000), "NotOneOf", &["warp M = 1000", "nearest is 128"], true),
        (threads(|d| d.warp.n = 64), "OutOfRange", &["warp N = 64", "128 to 128", "nearest is 128"], true),
        (threads(|d| d.threadblock.k = 72), "OutOfRange", &["threadblock K = 72", "8 to 64", "nearest is 64"], true),
        (threads(|d| d.threadblock.k = 12), "NotMultiple", &["threadblock K = 12", "multiple of 8", "nearest is 16"], true),
        (threads(|d| d.warp.k = 8), "OutOfRange", &["warp K = 8", "16 to 16", "nearest is 16"], true),
        (threads(|d| d.threadblock.m = 0), "OutOfRange", &["threadblock M = 0", "32 to 512", "nearest is 32"], true),
        (threads(|d| d.threadblock.m = 100), "NotMultiple", &["threadblock M = 100", "multiple of 32", "nearest is 128"], true),
        (threads(|d| d.threadblock.m = 96), "NotMultiple", &["warps that multiply, in warpgroups of 4 = 6", "multiple of 4"], false),
        (threads(|d| d.threadblock.n = 512), "OutOfRange", &["warps that multiply, in warpgroups of 4 = 16", "4 to 12"], false),
        (threads(|d| d.schedule = ScheduleKind::Pingpong), "OutOfRange", &["warps of a tile that pingpong gives to one warpgroup = 8", "nearest is 4"], false),
        (threads(|d| d.cluster = Mn { m: 2, n: 2 }), "OutOfRange", &["cluster N = 2", "1 to 1", "nearest is 1"], true),
        (threads(|d| d.cluster.m = 4), "UnevenBoxes", &["cluster M = 4", "boxes of a tile evenly", "nearest is 2"], true),
        (threads(|d| { (d.warp, d.threadblock) = (Mnk::new(8, 64, 8), Mnk::new(8, 256, 8)); (d.instruction.m, d.instruction.n) = (4, 4) }), "NotMultiple",
            &["threadblock K where stages are whole kilobytes = 8", "multiple of 32", "nearest is 32"], true),
        (threads(|d| d.stages = 1), "OutOfRange", &["stages = 1", "2 to 16", "nearest is 2"], true),
        (threads(|d| d.stages = 10), "SharedMemory", &["10 stages of 24576", "sm_90 has", "stages is 9"], true),
        (threads(|d| { (d.warp, d.threadblock) = (Mnk::new(64, 96, 16), Mnk::new(128, 192, 16)); (d.instruction.m, d.instruction.n) = (16, 12) }), "Registers",
            &["288 registers", "256 threads", "248"], false),
        (threads(|d| d.align_a = 2), "NotOneOf", &["alignment of A = 2", "16 bytes of the copy engine", "nearest is 4"], true),
        (threads(|d| d.smem_b = padded), "NoChoice", &["layout of B in shared memory", "nearest is auto"], true),
        (threads(|d| d.blocks_per_sm = 2), "OutOfRange", &["blocks per multiprocessor = 2", "1 to 1", "nearest is 1"], true),
    ];
    assert_eq!(threads(|_| ()).check(), Ok(()));
    for (desc, variant, words, nearest) in table.into_iter().chain(of_threads) {
        let refusal = desc.check().expect_err(variant);
        let sentence = refusal.to_string();
        println!("{sentence}");
        assert_eq!(name(&refusal), variant, "{sentence}");
        words.iter().for_each(|word| assert!(sentence.contains(word), "{sentence}: lacks {word:?}"));
        let advice = advised(desc, &refusal);
        assert_eq!(advice.is_some(), nearest, "{sentence}");
        if let Some(advice) = advice {
            assert_ne!(advice.check(), Err(refusal), "the advice is refused for the same: {sentence}");
        }
    }
}

#[test]
fn a_machine_that_is_not_hopper_is_named() {
    let machine = Machine { sm: 100, ..ArchKind::Sm90.machine() };
    let sentence = changed(|_| ()).check_on(&machine).expect_err("a newer machine").to_string();
    assert!(
        sentence.contains("sm90 alone has; this machine has sm100") && sentence.contains("op simt has kernels"),
        "{sentence}"
    );
    let sentence = changed(|_| ()).check_on(&ArchKind::Sm80.machine()).expect_err("an older machine").to_string();
    assert!(sentence.contains("instructions of sm90"), "{sentence}");
}

/// What looks at threads that all follow one schedule says so.
#[test]
fn a_kernel_with_roles_is_no_program_of_one_schedule() {
    let d = changed(|_| ());
    let program = Program::of(&d);
    let shapes = Shapes::of(&d, (256, 256, 64), [None; 3], [0.0; 8]);
    let sentences =
        [banks::of_desc(&d).expect_err("roles").to_string(), count(&program, &shapes).expect_err("roles").to_string()];
    for sentence in sentences {
        assert!(sentence.starts_with("mainloop = ") && sentence.ends_with("have roles; the nearest is multistage"), "{sentence}");
    }
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
                knobs: vec![(knob.to_owned(), "4".to_owned())],
                ..Request::default()
            };
            let sentence = request.resolve(ArchKind::Sm90).expect_err("less than a vector").to_string();
            assert!(sentence.starts_with(named), "{sentence}");
        }
    }
}

fn legal() -> impl Strategy<Value = GemmDesc> {
    let of = |threads| Wanted { family: if threads { Family::Threads } else { Family::WarpSpecialized }, ..Wanted::default() };
    (any::<u64>(), any::<bool>()).no_shrink().prop_map(move |(seed, threads)| description(seed, of(threads)))
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
            (d.a, d.b, d.accumulator, d.c) = (ab, ab, accumulator, c);
        }
        let _ = (d.threads(), d.smem_bytes(), d.registers(), d.warp_specialized());
        match d.check() {
            Ok(()) => prop_assert!(d.explain().facts().len() > 5),
            Err(refusal) => prop_assert!(refusal.to_string().len() > 20),
        }
    }
}
