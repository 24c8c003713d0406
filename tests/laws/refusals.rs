//! Every refusal that safe code on the host can meet: its sentence names the field, the value and
//! the limit, and the nearest legal value that it names is legal.
//!
//! `Overlap`, `PartlyShared`, `OtherDevice` and `NotPrepared` belong to operands on a device: their
//! sentences are read here, and the tests of the CUDA executor meet them.

use crate::harness::{OfFamily, problems::packed};
use crate::harness::{
    advice::advised,
    random_cases::{
        self, NUMBERS, cases, default_f32, follow_advice, garbage, legal, number, shipped, spoiled,
    },
};
use falchion::{
    Error, Refusal,
    arch::{ArchKind, Machine, OpKind},
    desc::{Frame, GemmDesc, SimtDesc},
    device::{Arguments, Gemm, run_on_host},
    epilogue::{EpilogueDesc, NodeId, Op},
    internals::{
        call::{Elements, HostMatrices, HostSlice, HostSliceMut, Problem, Source, View},
        family::default_gemm_configuration::{default_description, default_gemm_configurations},
        host::Mode,
    },
    layout::Order,
    numeric::{ComputeKind, ElementKind},
    prelude::{ColMajor, RowMajor},
    refusal::Operand,
    shape::Mnk,
    threadblock::{Along, MainloopKind, SmemLayout},
    warp::{InterleaveKind, UnrollKind},
};
use proptest::prelude::*;

const ROWS: [Order; 3] = [Order::Row; 3];

/// A description of the classic configuration, changed.
fn changed(change: impl FnOnce(&mut SimtDesc)) -> GemmDesc {
    let mut d = default_f32(ArchKind::Sm70, ROWS).one();
    change(&mut d);
    d.sum()
}

/// The same, with one stage.
fn single(change: impl FnOnce(&mut SimtDesc)) -> GemmDesc {
    changed(|d| {
        (d.knobs.mainloop, d.knobs.stages) = (MainloopKind::SingleStage, 1);
        change(d);
    })
}

/// The same, of the ring of asynchronous copies.
fn ring(change: impl FnOnce(&mut SimtDesc)) -> GemmDesc {
    let mut d = random_cases::ring(ROWS).one();
    change(&mut d);
    d.sum()
}

/// The default with other types, copied asynchronously.
fn ring_of(kind: ElementKind, orders: [Order; 3], align: u32) -> GemmDesc {
    let accumulator = if kind.is_integer() { ElementKind::I32 } else { ElementKind::F32 };
    let types = random_cases::types(kind, accumulator, kind);
    let d = default_description(OpKind::Simt, ArchKind::Sm80, types, orders).expect("a row");
    but!(d, mainloop: MainloopKind::Multistage, stages: 3, align_a: align, align_b: align)
}

/// The variant's name.
fn name(refusal: &Refusal) -> String {
    let text = format!("{refusal:?}");
    text.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
}

/// What a description is refused for: the words of its sentence, and whether it names a nearest
/// legal value.
#[test]
fn every_refusal_of_a_description_names_field_value_limit_and_a_nearest_value_that_is_legal() {
    let node =
        |ops: &[Op]| ops[1..].iter().fold(EpilogueDesc::leaf(ops[0]), |desc, op| desc.then(*op));
    let odd = SmemLayout::Padded { along: Along::Mn, padding: 1 };
    let columns = [Order::Col, Order::Row, Order::Row];
    let (bf16, i8) = (ElementKind::Bf16, ElementKind::I8);
    let swizzle = |along, bits, base, shift| SmemLayout::Swizzled { along, bits, base, shift };
    #[rustfmt::skip]
    let table: Vec<(GemmDesc, &str, &[&str], bool)> = vec![
        (changed(|d| d.class.b.element = bf16), "NoSuchCombination", &["f32 by bf16", "in f32 into f32", "try f32 by f32 accumulating in f32 into f32"], false),
        (changed(|d| { d.class.a.element = ElementKind::E4m3; d.class.b.element = ElementKind::E5m2; d.class.output.element = bf16 }), "OfOtherUnits",
            &["e4m3 by e5m2", "in f32 into bf16 on the CUDA cores", "tensor cores, op tensorop"], false),
        (changed(|d| { d.class.a.element = ElementKind::Tf32; d.class.b.element = ElementKind::Tf32 }), "OfOtherUnits", &["tf32 by tf32", "op tensorop"], false),
        (changed(|d| d.class.op = OpKind::TensorOp), "NoChoice", &["op tensorop is unsupported by the pipelined main loop", "try simt"], true),
        (changed(|d| d.knobs.threadblock.m = 72), "DoesNotNest", &["threadblock M = 72", "warp tiles of 32", "try 64"], true),
        (changed(|d| { d.knobs.threadblock.k = 512; d.knobs.warp.k = 30 }), "DoesNotNest", &["threadblock K = 512", "tiles of 30", "try 510"], true),
        (changed(|d| d.knobs.stages = 1), "OutOfRange", &["stages = 1", "2 to 2", "try 2"], true),
        (ring(|d| d.knobs.stages = 17), "OutOfRange", &["stages = 17", "2 to 16", "try 16"], true),
        (changed(|d| d.knobs.threadblock.n = 320), "OutOfRange", &["threadblock N = 320", "8 to 256", "try 256"], true),
        (changed(|d| d.knobs.warp.k = 66), "OutOfRange", &["warp K = 66", "8 to 64", "try 64"], true),
        (changed(|d| d.knobs.interleave = InterleaveKind::Elements(3)), "NotOneOf", &["interleave = 3", "1, 2, 4, 8, 16, 32, 64", "try 4"], true),
        (changed(|d| d.knobs.unroll = UnrollKind::By(2)), "NoLoopToUnroll", &["unroll = 2", "pipelined main loop", "unroll is full"], true),
        (single(|d| d.knobs.unroll = UnrollKind::By(9)), "OutOfRange", &["unroll = 9", "1 to 8", "try 8"], true),
        (single(|d| d.knobs.stages = 2), "OutOfRange", &["stages = 2", "1 to 1", "try 1"], true),
        (changed(|d| d.knobs.swizzle = falchion::threadblock::SwizzleKind::Identity(65)), "OutOfRange", &["swizzle = 65", "1 to 64", "try 64"], true),
        (changed(|d| d.knobs.blocks_per_sm = 0), "OutOfRange", &["blocks per multiprocessor = 0", "1 to 16", "try 1"], true),
        (changed(|d| d.knobs.smem_b = SmemLayout::Padded { along: Along::K, padding: 65 }), "OutOfRange", &["padding of B = 65", "0 to 64", "try 64"], true),
        (changed(|d| d.knobs.smem_a = swizzle(Along::Mn, 0, 2, 0)), "OutOfRange", &["swizzle bits of A = 0", "1 to 5", "try 1"], true),
        (changed(|d| d.knobs.smem_a = swizzle(Along::Mn, 1, 6, 0)), "OutOfRange", &["swizzle base of A = 6", "0 to 5", "try 5"], true),
        (changed(|d| d.knobs.smem_b = swizzle(Along::Mn, 1, 2, 9)), "OutOfRange", &["swizzle shift of B = 9", "0 to 8", "try 8"], true),
        (changed(|d| { d.knobs.warp = Mnk::new(8, 8, 8); d.knobs.threadblock = Mnk::new(8, 8, 8) }), "OutOfRange", &["warp M x N = 64", "128 to 4096"], false),
        (changed(|d| d.knobs.warp = Mnk::new(16, 16, 8)), "OutOfRange", &["warps in a block = 64", "1 to 16"], false),
        (changed(|d| d.knobs.mainloop = MainloopKind::WarpSpecialized), "NoChoice", &["mainloop is unsupported by the warpspecialized", "try multistage"], false),
        (changed(|d| d.knobs.warp.m = 65), "NotOneOf", &["warp M = 65", "8, 16, 32, 64, 128", "try 64"], true),
        (changed(|d| d.knobs.align_a = 9), "NotOneOf", &["alignment of A = 9", "1, 2, 4", "try 4"], true),
        (changed(|d| d.knobs.align_c = 0), "NotOneOf", &["alignment of C = 0", "1, 2, 4", "try 1"], true),
        (changed(|d| d.knobs.warp.k = 9), "NotEven", &["warp K = 9", "try 10"], true),
        (changed(|d| d.knobs.stages = 3), "PipelinedStages", &["stages = 3", "has 2", "2 to 16"], true),
        (but!(ring(|_| ()), arch: ArchKind::Sm75), "NoAsynchronousCopy", &["sm75", "sm80 and newer", "2 stages"], false),
        (ring_of(bf16, columns, 1), "CopyWidth", &["copy of A", "2 bytes", "bf16", "4, 8 or 16", "try alignment 2"], true),
        (ring_of(bf16, [Order::Row, Order::Row, Order::Row], 8), "CopyWidth", &["copy of A", "2 bytes", "no alignment helps", "pipelined"], false),
        (but!(ring_of(i8, columns, 8), smem_a: SmemLayout::Padded { along: Along::Mn, padding: 4 }), "CopyNotWhole", &["copy of A", "8 elements", "only 4", "try alignment 4"], true),
        (but!(ring_of(bf16, columns, 8), smem_a: odd), "CopyNotWhole", &["copy of A", "8 elements", "only 1", "no alignment helps"], false),
        (changed(|d| { d.knobs.align_a = 4; d.knobs.warp.k = 10; d.knobs.threadblock.k = 10 }), "AccessDoesNotDivideTile", &["alignment of A = 4", "10 contiguous", "try 2"], true),
        (changed(|d| d.knobs.smem_a = swizzle(Along::K, 3, 2, 0)), "SwizzleBeyondRow", &["swizzle of A", "within 32", "row of 8"], false),
        (changed(|d| d.knobs.warp = Mnk::new(128, 128, 8)), "OutOfRange", &["warp M x N = 16384", "128 to 4096"], false),
        (changed(|d| d.knobs.blocks_per_sm = 4), "Registers", &["139 registers", "256 threads", "4 blocks", "64", "smaller warp tile"], false),
        (changed(|d| { (d.knobs.threadblock, d.knobs.warp) = (Mnk::new(16, 32, 8), Mnk::new(8, 16, 8)); (d.class.arch, d.knobs.blocks_per_sm) = (ArchKind::Sm75, 9) }), "OutOfRange", &["threads of a multiprocessor = 1152", "32 to 1024"], false),
        (ring(|d| d.knobs.stages = 9), "SharedMemory", &["149760 bytes", "9 stages of 16640", "sm_80 has 82944", "2 blocks", "try stages = 4"], true),
        (changed(|d| (d.knobs.threadblock, d.knobs.warp) = (Mnk::new(32, 32, 256), Mnk::new(32, 32, 32))), "SharedMemory", &["2 stages of", "sm_70 has 98304", "smaller threadblock tile"], false),
        (changed(|d| d.class.output.epilogue = node(&[Op::Add])), "Epilogue", &["a node lacks what it is to be applied to"], false),
        (changed(|d| d.class.output.epilogue = node(&[Op::Nop])), "Epilogue", &["hole"], false),
        (changed(|d| d.class.output.epilogue = node(&[Op::Scalar(8)])), "Epilogue", &["beyond s7"], false),
        (changed(|d| d.class.output.epilogue = node(&[Op::Accumulator, Op::Source])), "Epilogue", &["one result"], false),
        (changed(|d| d.class.output.epilogue = node(&[Op::Accumulator, Op::Source, Op::Scale])), "Epilogue", &["not a scalar"], false),
        (changed(|d| d.class.output.epilogue = node(&[Op::Accumulator; 33])), "Epilogue", &["more than 32 nodes"], false),
        (changed(|d| d.class.compute = ComputeKind::I32), "Compute", &["from f32 to f32", "compute in i32", "try f32"], true),
    ];
    for (desc, variant, words, nearest) in table {
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
            // What the field may be does not depend on what is still wrong with others.
            assert_ne!(
                advice.check().map_err(|again| again
                    .to_string()
                    .split(" = ")
                    .next()
                    .map(str::to_owned)),
                Err(sentence.split(" = ").next().map(str::to_owned)),
                "{sentence}"
            );
        }
    }
}

#[test]
fn a_machine_that_is_too_old_or_too_small_is_named() {
    let d = random_cases::ring(ROWS);
    for (sm, words) in [(75, "try arch sm75"), (70, "try arch sm70"), (61, "no tag is as old")] {
        let machine = Machine { sm, ..ArchKind::Sm70.machine() };
        let sentence = d.check_on(&machine).expect_err("too old").to_string();
        assert!(
            sentence.contains("instructions of sm80") && sentence.contains(&format!("sm_{sm}")),
            "{sentence}"
        );
        assert!(sentence.contains(words), "{sentence}");
    }
    let small = d.check_on(&ArchKind::Sm86.machine()).expect_err("99 KB").to_string();
    assert!(
        small.contains("sm_86 has 50176 for each of 2 blocks") && small.contains("try stages = 3"),
        "{small}"
    );
    let types = random_cases::types(ElementKind::I8, ElementKind::I32, ElementKind::I32);
    let i8 = default_description(OpKind::Simt, ArchKind::Sm70, types, ROWS).expect("a row");
    let sliced = but!(i8, threadblock: Mnk::new(64, 64, 16), warp: Mnk::new(32, 32, 8));
    let tight = Machine { shared_bytes_per_block: 8192, ..ArchKind::Sm70.machine() };
    let sentence = sliced.check_on(&tight).expect_err("16 KB").to_string();
    assert!(
        sentence.contains("16384 bytes of shared memory (the slices of K reduce 16384 bytes)"),
        "{sentence}"
    );
    assert!(
        sentence.contains("sm_70 has 8192") && sentence.contains("smaller threadblock tile"),
        "{sentence}"
    );
    let narrow = Machine { threads_per_block: 128, ..ArchKind::Sm80.machine() };
    let sentence = d.check_on(&narrow).expect_err("256 threads").to_string();
    assert!(
        sentence.contains("threads of a block = 256 is out of range (32 to 128)"),
        "{sentence}"
    );
}

#[test]
fn the_table_refuses_what_it_has_no_row_for() {
    let types = random_cases::types(ElementKind::F64, ElementKind::F64, ElementKind::F64);
    let whole = random_cases::types(ElementKind::I32, ElementKind::I32, ElementKind::I32);
    let refused = |op, types| {
        default_gemm_configurations(op, ArchKind::Sm70, types).expect_err("no row").to_string()
    };
    assert!(
        refused(OpKind::TensorOp, whole)
            .contains("i32 by i32 accumulating in i32 into i32 on tensor cores: that is for the CUDA cores, op simt")
    );
    let halves = random_cases::types(ElementKind::F16, ElementKind::F32, ElementKind::F16);
    assert!(refused(OpKind::TensorOp, halves).contains("with op tensorop on sm70; try sm75"));
    let mixed = falchion::numeric::Combined { b: ElementKind::F32, ..types };
    assert!(refused(OpKind::Simt, mixed).contains("f64 by f32 accumulating in f64 into f64"));
}

/// A packed problem of m x n x k with matrices as long as they need to be, changed.
fn problem([m, n, k]: [usize; 3], change: impl FnOnce(&mut Problem)) -> Problem {
    let mut problem = packed([m, n, k]);
    change(&mut problem);
    problem
}

#[test]
fn every_refusal_of_a_problem_names_operand_value_and_limit() {
    let most = i32::MAX as usize;
    let huge = View::new(Elements::ALL, Order::Row, most);
    let user = EpilogueDesc::leaf(Op::Accumulator).then(Op::User(NodeId(77)));
    let plain = default_f32(ArchKind::Sm70, ROWS);
    let whole = {
        let i32 = ElementKind::I32;
        default_description(OpKind::Simt, ArchKind::Sm70, random_cases::types(i32, i32, i32), ROWS)
            .expect("a row")
    };
    #[rustfmt::skip]
    let table: Vec<(GemmDesc, Problem, &str, &[&str])> = vec![
        (plain, problem([0, 4, 4], |s| s.m = most + 1), "ExtentTooLarge", &["M = 2147483648", "2147483647"]),
        (plain, problem([4, 4, 0], |s| s.k = usize::MAX), "ExtentTooLarge", &["K = 18446744073709551615", "2147483647"]),
        (plain, problem([0; 3], |s| { (s.m, s.n, s.a, s.b, s.d) = (most, most, huge, huge, huge) }), "TooManyTiles", &["281474976710656 tiles", "2147483647", "larger tile"]),
        (plain, problem([4, 5, 6], |s| s.a.strides = [5, 1]), "LeadingDimension", &["dimension of A = 5", "number of columns", "try 6"]),
        (plain, problem([4, 5, 6], |s| s.b.strides = [1, 3]), "LeadingDimension", &["dimension of B = 3", "number of rows", "try 6"]),
        (plain, problem([4, 5, 6], |s| s.d.memory.length = 19), "TooShort", &["D has 19 elements", "4 x 5", "dimension of 5 takes 20"]),
        (plain, problem([4, 5, 6], |s| { s.c = Source::Matrix(s.d.with(Elements::of(7))); s.scalars[1] = 1.0 }), "TooShort", &["C has 7 elements", "4 x 5", "takes 20"]),
        (plain, problem([4, 5, 6], |s| s.a.strides[0] = usize::MAX), "Overflow", &["size of A", "4 x 6", "18446744073709551615", "64 bits"]),
        (plain, problem([4, 5, 6], |s| s.a.strides = [12, 2]), "Strides", &["rows of A are 12 elements apart", "its columns 2", "one of the two has to be 1"]),
        (plain, problem([4, 5, 6], |s| s.d.strides = [1, 4]), "Strides", &["rows of D are 1 elements apart", "its columns 4", "row-major ones", "columns have to be 1 element apart"]),
        (plain, problem([4, 5, 6], |s| s.scalars[1] = 1.0), "MissingOperand", &["reads C"]),
        (but!(plain, epilogue: user), problem([4, 5, 6], |_| ()), "UnknownNode", &["the node user_000000000000004d", "epilogue::register"]),
        (whole, problem([4, 5, 6], |s| s.scalars[0] = f64::INFINITY), "NotFinite", &["scalar alpha", "integers"]),
    ];
    for (desc, problem, variant, words) in table {
        let refusal = problem.enter(&desc).expect_err(variant);
        let sentence = refusal.to_string();
        println!("{sentence}");
        assert_eq!(name(&refusal), variant, "{sentence}");
        words
            .iter()
            .for_each(|word| assert!(sentence.contains(word), "{sentence}: lacks {word:?}"));
        assert_eq!(refusal.enter(Frame::SWAPPED).leave(Frame::SWAPPED), refusal);
    }
}

/// A kernel whose A is the user's B tells of the user's operands, extents and orders all the same.
#[test]
fn refusals_name_the_users_operands_in_either_frame() {
    type Change = fn(&mut Problem);
    let cases: [(Change, &str); 6] = [
        (
            |s| s.a.strides = [5, 1],
            "the leading dimension of A = 5 is below its number of columns; try 6",
        ),
        (
            |s| s.b.strides = [1, 5],
            "the leading dimension of B = 5 is below its number of rows; try 6",
        ),
        (
            |s| s.b.memory.length = 29,
            "B has 29 elements, and 6 x 5 with a leading dimension of 5 takes 30",
        ),
        (|s| s.m = 1 << 31, "M = 2147483648 is beyond the largest extent, 2147483647"),
        (
            |s| s.a.strides = [12, 2],
            "rows of A are 12 elements apart, and its columns 2; one of the two has to be 1",
        ),
        (|s| s.scalars[1] = 1.0, "the kernel reads C, which the arguments do not give"),
    ];
    for c in [Order::Row, Order::Col] {
        let desc = default_f32(ArchKind::Sm70, [Order::Row, Order::Row, c]);
        assert_eq!(desc.frame.swapped, c == Order::Col);
        for (change, wanted) in cases {
            let problem = problem([4, 5, 6], |s| {
                s.d = View::packed(s.d.memory, c, (4, 5), None);
                change(s);
            });
            assert_eq!(problem.enter(&desc).expect_err(wanted).to_string(), wanted, "{c:?}");
        }
    }
}

#[test]
fn operands_of_another_layout_or_type_are_refused_where_types_are_values() {
    let (a, b, mut d) = ([1.0f32; 24], [1.0f32; 30], [0.0f32; 20]);
    let mut run = |problem: &Problem, a: HostSlice<'_>| {
        let matrices = HostMatrices {
            a,
            b: HostSlice::new::<f32>(&b),
            c: Source::None,
            d: HostSliceMut::new::<f32>(&mut d),
            vectors: Default::default(),
        };
        match run_on_host(&default_f32(ArchKind::Sm70, ROWS), Mode::Fast, problem.with(matrices)) {
            Err(Error::Refused(refusal)) => refusal.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let columns = problem([4, 5, 6], |s| s.d.strides = [1, 4]);
    let sentence = run(&columns, HostSlice::new::<f32>(&a));
    assert!(
        sentence.contains("rows of D are 1 elements apart, and its columns 4, where the kernel is of row-major ones"),
        "{sentence}"
    );
    let sentence = run(&problem([4, 5, 6], |_| ()), HostSlice::new::<i32>(&[1; 24]));
    assert_eq!(sentence, "A holds i32, and the kernel takes f32 there; give it elements of f32");
}

#[test]
fn what_can_be_implemented_is_what_runs() {
    let gemm = Gemm::<i8, RowMajor, i8, ColMajor, i32, ColMajor>::new();
    let (a, b) = ([1i8; 4], [1i8; 4]);
    for alpha in [1.0, 0.5, f64::INFINITY, f64::NAN] {
        let (mut d, mut e) = ([7; 4], [7; 4]);
        let can =
            gemm.can_implement(&Arguments::new((2, 2, 2), &a, &b, &mut d).alpha(alpha)).is_ok();
        assert_eq!(
            can,
            gemm.run(Arguments::new((2, 2, 2), &a, &b, &mut e).alpha(alpha)).is_ok(),
            "alpha {alpha}"
        );
    }
}

#[test]
fn the_sentences_of_operands_on_a_device_are_readable() {
    for (refusal, words) in [
        (
            Refusal::Overlap { operand: Operand::A },
            "D overlaps A, which is read while D is written",
        ),
        (
            Refusal::PartlyShared { operand: Operand::C },
            "D and C share some of their memory but not all of it",
        ),
        (Refusal::OtherDevice { operand: Operand::C }, "C lies on another device than D"),
        (
            Refusal::WorkspaceCaptured { given: 16, needed: 512 },
            "the workspace has 16 bytes, and the call needs 512; a stream that is being captured cannot allocate: reserve 512 bytes before the capture",
        ),
        (Refusal::NotPrepared, "call prepare before the capture"),
        (Refusal::GroupsCaptured, "take groups, whose kernel alone reads them, or groups_by_value"),
    ] {
        assert!(refusal.to_string().contains(words), "{refusal}");
    }
}

#[test]
fn everything_that_ships_checks() {
    assert!(shipped().all(|desc| desc.check().is_ok() && desc.swapped().check().is_ok()));
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn no_description_panics_or_overflows(d in garbage(), sm in number(), blocks in number(), memory in number()) {
        let machine = Machine { sm, shared_bytes_per_block: memory, shared_bytes_per_sm: memory, registers_per_sm: blocks, threads_per_sm: 2048, threads_per_block: blocks, blocks_per_sm: 32, multiprocessors: 1 };
        for d in [d, d.swapped(), d.narrowed([1, 1, 1]), but!(d, op: OpKind::Simt)] {
            for refusal in [d.check(), d.check_on(&machine)].into_iter().filter_map(Result::err) {
                prop_assert!(refusal.to_string().len() > 20);
            }
            let _ = (d.one().base().registers(), d.one().registers_available(blocks), d.smem_bytes(), d.threads(), d.one().base().tiles.accumulators(), d.one().base().store_access);
            let text = format!("{d:?} {}", d.class.output.epilogue);
            prop_assert!(text.starts_with("GemmDesc"));
            prop_assert_eq!(d.swapped().swapped(), d);
            match d.to_json() {
                Ok(text) => prop_assert_eq!(GemmDesc::from_json(&text).expect("it was written here"), d),
                Err(error) => prop_assert_eq!(error.to_string(), d.class.output.epilogue.check().expect_err("no text").to_string()),
            }
        }
    }

    #[test]
    fn advice_leads_to_a_kernel_or_to_a_sentence_without_advice(d in legal(), spoils in proptest::collection::vec((0..NUMBERS, number()), 1..4)) {
        follow_advice(spoils.into_iter().fold(d, |d, (field, x)| spoiled(d, field, x)), advised)?;
    }
}
