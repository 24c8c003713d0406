//! Every refusal of a SIMT kernel, or of a problem, that safe host code can cause: the message
//! names the field, the value, and the limit, and the suggested value is valid.

use super::super::refusals::{ROWS, are_refused};
use crate::harness::{
    prelude::*,
    problems::packed,
    random_cases::{self, *},
};
use proptest::prelude::*;

/// Returns a changed description with the classic tile.
pub(crate) fn changed(change: impl FnOnce(&mut Changed)) -> Changed {
    let mut d = Changed::new(default_f32(ArchKind::Sm70, ROWS));
    change(&mut d);
    d
}

/// Refusals of descriptions: the text of the message, and whether it suggests a valid value.
#[test]
fn description_refusals_name_field_value_limit_and_a_valid_value() {
    let node =
        |ops: &[Op]| ops[1..].iter().fold(EpilogueDesc::leaf(ops[0]), |desc, op| desc.then(*op));
    let bf16 = ElementKind::Bf16;
    let swizzle = |along, bits, base, shift| SmemLayout::Swizzled { along, bits, base, shift };
    #[rustfmt::skip]
    let table: Vec<(Changed, &str, bool)> = vec![
        (changed(|d| d.desc.operands[1].stored = bf16), "no kernel multiplies f32 by bf16 accumulating in f32 into f32; try f32 by f32 accumulating in f32 into f32", false),
        (changed(|d| { d.desc.operands[0].stored = ElementKind::E4m3; d.desc.operands[1].stored = ElementKind::E5m2; d.desc.output.element = bf16 }), "no kernel multiplies e4m3 by e5m2 accumulating in f32 into bf16 on CUDA cores; try op = tensorop", true),
        (changed(|d| { d.desc.operands[0].stored = ElementKind::Tf32; d.desc.operands[1].stored = ElementKind::Tf32 }), "no kernel multiplies tf32 by tf32 accumulating in f32 into f32 on CUDA cores; try op = tensorop", true),
        (changed(|d| d.threadblock.m = 72), "threadblock M = 72 is not a multiple of 32 (warp tiles); try 64", true),
        (changed(|d| { d.threadblock.k = 512; d.warp.k = 30 }), "threadblock K = 512 is not a multiple of 30 (warp tiles); try 510", true),
        (changed(|d| d.threadblock.n = 320), "threadblock N = 320 is outside 8 to 256; try 256", true),
        (changed(|d| d.warp.k = 66), "warp K = 66 is outside 8 to 64; try 64", true),
        (changed(|d| d.interleave = InterleaveKind::Elements(3)), "interleave = 3 is not one of 1, 2, 4, 8, 16, 32, 64; try 4", true),
        (changed(|d| d.swizzle = falchion::threadblock::SwizzleKind::Identity(65)), "swizzle = 65 is outside 1 to 64; try 64", true),
        (changed(|d| d.blocks_per_sm = 0), "blocks_per_sm = 0 is outside 1 to 16; try 1", true),
        (changed(|d| d.smem_b = SmemLayout::Padded { along: Along::K, padding: 65 }), "padding of B = 65 is outside 0 to 64; try 64", true),
        (changed(|d| d.smem_a = swizzle(Along::Mn, 0, 2, 0)), "swizzle bits of A = 0 is outside 1 to 5; try 1", true),
        (changed(|d| d.smem_a = swizzle(Along::Mn, 1, 6, 0)), "swizzle base of A = 6 is outside 0 to 5; try 5", true),
        (changed(|d| d.smem_b = swizzle(Along::Mn, 1, 2, 9)), "swizzle shift of B = 9 is outside 0 to 8; try 8", true),
        (changed(|d| { d.warp = Mnk::new(8, 8, 8); d.threadblock = Mnk::new(8, 8, 8) }), "warp M x N = 64 is outside 128 to 4096; try 128", false),
        (changed(|d| d.warp = Mnk::new(16, 16, 8)), "warps in a block = 64 is outside 1 to 16; try 16", false),
        (changed(|d| d.warp.m = 65), "warp M = 65 is not one of 8, 16, 32, 64, 128; try 64", true),
        (changed(|d| d.align_a = 9), "align_a = 9 is not one of 1, 2, 4; try 4", true),
        (changed(|d| d.align_c = 0), "align_c = 0 is not one of 1, 2, 4; try 1", true),
        (changed(|d| d.warp.k = 9), "warp K = 9 is not a multiple of 2 (fragment buffers); try 10", true),
        (changed(|d| { d.align_a = 4; d.warp.k = 10; d.threadblock.k = 10 }), "align_a = 4 does not divide 10 (contiguous elements of the tile); try 2", true),
        (changed(|d| d.smem_a = swizzle(Along::K, 3, 2, 0)), "swizzle block of A = 32 elements does not divide 8 elements (row of the tile)", false),
        (changed(|d| d.warp = Mnk::new(128, 128, 8)), "warp M x N = 16384 is outside 128 to 4096; try 4096", false),
        (changed(|d| d.blocks_per_sm = 4), "registers per thread = 139 exceeds 64 (256 threads per block, 4 blocks per multiprocessor); use a smaller warp tile, fewer blocks_per_sm, or spills = allowed", false),
        (changed(|d| { (d.threadblock, d.warp) = (Mnk::new(16, 32, 8), Mnk::new(8, 16, 8)); (d.desc.arch, d.blocks_per_sm) = (ArchKind::Sm75, 9) }), "threads of a multiprocessor = 1152 is outside 32 to 1024; try 1024", false),
        (changed(|d| d.desc.epilogue = node(&[Op::ADD])), "epilogue is malformed (a node without operands)", false),
        (changed(|d| d.desc.epilogue = node(&[Op::Nop])), "epilogue is malformed (an empty node)", false),
        (changed(|d| d.desc.epilogue = node(&[Op::Scalar(8)])), "epilogue is malformed (a scalar beyond s7)", false),
        (changed(|d| d.desc.epilogue = node(&[Op::Accumulator, Op::SOURCE])), "epilogue is malformed (more than one result)", false),
        (changed(|d| d.desc.epilogue = node(&[Op::Accumulator, Op::SOURCE, Op::Scale])), "epilogue is malformed (a factor of a node that is not a scalar)", false),
        (changed(|d| d.desc.epilogue = node(&[Op::Accumulator; 33])), "epilogue is malformed (more than 32 nodes)", false),
        (changed(|d| d.desc.output.compute = ComputeKind::I32), "compute type of the epilogue = i32 is not supported by floating-point accumulators or outputs; try f32", true),
    ];
    are_refused(table);
}

#[test]
fn an_old_or_small_machine_is_named() {
    let d = random_cases::ring(ROWS);
    for (sm, words) in
        [(75, "try arch = sm75"), (70, "try arch = sm70"), (61, "no architecture is as old")]
    {
        let machine = Machine { sm, ..ArchKind::Sm70.machine() };
        let sentence = d.check_on(&machine).message();
        assert_eq!(sentence, format!("compute capability = {sm} is less than 80; {words}"));
    }
    let types = element_types(ElementKind::I8, ElementKind::I32, ElementKind::I32);
    let i8 = default_of(OpKind::Simt, ArchKind::Sm70, types, ROWS);
    let sliced = but!(i8, threadblock: Mnk::new(64, 64, 16), warp: Mnk::new(32, 32, 8));
    let tight = Machine { shared_bytes_per_block: 8192, ..ArchKind::Sm70.machine() };
    let sentence = sliced.check_on(&tight).message();
    assert_eq!(
        sentence,
        "shared memory of a block = 16384 bytes exceeds 8192 bytes (split-K partials of 16384; sm_70 with 1 block per multiprocessor); use a smaller threadblock tile"
    );
    let narrow = Machine { threads_per_block: 128, ..ArchKind::Sm80.machine() };
    let sentence = d.check_on(&narrow).message();
    assert_eq!(sentence, "threads of a block = 256 is outside 32 to 128; try 128");
}

/// Returns a changed packed problem of m x n x k, with matrices of the minimum length.
fn problem([m, n, k]: [usize; 3], change: impl FnOnce(&mut Problem)) -> Problem {
    let mut problem = packed([m, n, k]);
    change(&mut problem);
    problem
}

#[test]
fn problem_refusals_name_operand_value_and_limit() {
    let most = i32::MAX as usize;
    let huge = View::new(Elements::ALL, Order::Row, most);
    let user = EpilogueDesc::leaf(Op::Accumulator).then(Op::User(NodeId(77)));
    let plain = default_f32(ArchKind::Sm70, ROWS);
    let whole = {
        let i32 = ElementKind::I32;
        default_of(OpKind::Simt, ArchKind::Sm70, element_types(i32, i32, i32), ROWS)
    };
    #[rustfmt::skip]
    let table: Vec<(GemmDesc, Problem, &str)> = vec![
        (plain, problem([0, 4, 4], |s| s.m = most + 1), "M = 2147483648 exceeds 2147483647"),
        (plain, problem([4, 4, 0], |s| s.k = usize::MAX), "K = 18446744073709551615 exceeds 2147483647"),
        (plain, problem([0; 3], |s| { (s.m, s.n, s.a, s.b, s.d) = (most, most, huge, huge, huge) }), "number of tiles = 281474976710656 exceeds 2147483647 (thread blocks of a grid); use a larger tile"),
        (plain, problem([4, 5, 6], |s| s.a.strides = [5, 1]), "leading dimension of A = 5 is less than 6 (number of columns); try 6"),
        (plain, problem([4, 5, 6], |s| s.b.strides = [1, 3]), "leading dimension of B = 3 is less than 6 (number of rows); try 6"),
        (plain, problem([4, 5, 6], |s| s.d.memory.length = 19), "length of D = 19 elements is less than 20 elements (4 x 5, leading dimension 5)"),
        (plain, problem([4, 5, 6], |s| { s.c = Source::Matrix(s.d.with(Elements::new(7))); s.scalars[1] = 1.0 }), "length of C = 7 elements is less than 20 elements (4 x 5, leading dimension 5)"),
        (plain, problem([4, 5, 6], |s| s.a.strides[0] = usize::MAX), "size of A exceeds 64 bits (4 x 6, leading dimension 18446744073709551615)"),
        (plain, problem([4, 5, 6], |s| s.a.strides = [12, 2]), "strides of A = 12 and 2 are not contiguous (one of the strides must be 1)"),
        (plain, problem([4, 5, 6], |s| s.d.strides = [1, 3]), "strides of D = 1 and 3 place two elements at one address; let one stride exceed the reach of the other"),
        (plain, problem([4, 5, 6], |s| s.scalars[1] = 1.0), "C is missing (the kernel reads it)"),
        (but!(plain, epilogue: user), problem([4, 5, 6], |_| ()), "epilogue node = user_000000000000004d is not registered; call epilogue::register first"),
        (whole, problem([4, 5, 6], |s| s.scalars[0] = f64::INFINITY), "scalar alpha is not finite (the epilogue computes in integers)"),
    ];
    for (desc, problem, wanted) in table {
        let refusal = problem.enter(&desc).expect_err(wanted);
        let sentence = refusal.to_string();
        assert_eq!(sentence, wanted);
        assert_eq!(refusal.enter(Frame::SWAPPED).leave(Frame::SWAPPED), refusal);
    }
}

/// If the operands are swapped, messages still name the user's operands, extents, and orders.
#[test]
fn refusals_name_the_users_operands_in_either_frame() {
    type Change = fn(&mut Problem);
    #[rustfmt::skip]
    let cases: [(Change, &str); 6] = [
        (|s| s.a.strides = [5, 1], "leading dimension of A = 5 is less than 6 (number of columns); try 6"),
        (|s| s.b.strides = [1, 5], "leading dimension of B = 5 is less than 6 (number of rows); try 6"),
        (|s| s.b.memory.length = 29, "length of B = 29 elements is less than 30 elements (6 x 5, leading dimension 5)"),
        (|s| s.m = 1 << 31, "M = 2147483648 exceeds 2147483647"),
        (|s| s.a.strides = [12, 2], "strides of A = 12 and 2 are not contiguous (one of the strides must be 1)"),
        (|s| s.scalars[1] = 1.0, "C is missing (the kernel reads it)"),
    ];
    for c in [Order::Row, Order::Col] {
        let desc = default_f32(ArchKind::Sm70, [Order::Row, Order::Row, c]);
        assert_eq!(desc.frame.swapped, c == Order::Col);
        for (change, wanted) in cases {
            let problem = problem([4, 5, 6], |s| {
                s.d = View::packed(s.d.memory, c, (4, 5), None);
                change(s);
            });
            assert_eq!(problem.enter(&desc).message(), wanted, "{c:?}");
        }
    }
}

#[test]
fn run_time_operands_with_overlapping_strides_or_another_type_are_refused() {
    let (a, b, mut d) = ([1.0f32; 24], [1.0f32; 30], [0.0f32; 20]);
    let mut run = |problem: &Problem, a: HostSlice<'_>| {
        let matrices = matrices(a, HostSlice::new::<f32>(&b), HostSliceMut::new::<f32>(&mut d));
        match run_in_mode(&default_f32(ArchKind::Sm70, ROWS), Mode::Fast, problem.with(matrices)) {
            Err(Error::Refused(refusal)) => refusal.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let columns = problem([4, 5, 6], |s| s.d.strides = [1, 3]);
    let sentence = run(&columns, HostSlice::new::<f32>(&a));
    assert_eq!(
        sentence,
        "strides of D = 1 and 3 place two elements at one address; let one stride exceed the reach of the other"
    );
    let sentence = run(&problem([4, 5, 6], |_| ()), HostSlice::new::<i32>(&[1; 24]));
    assert_eq!(sentence, "element type of A = i32 is not f32");
}

#[test]
fn all_default_descriptions_are_valid() {
    assert!(shipped().all(|desc| desc.check().is_ok() && desc.swapped().check().is_ok()));
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn no_description_panics_or_overflows(d in garbage(), sm in number(), blocks in number(), memory in number()) {
        let machine = Machine { sm, shared_bytes_per_block: memory, shared_bytes_per_sm: memory, registers_per_sm: blocks, threads_per_sm: 2048, threads_per_block: blocks, blocks_per_sm: 32, multiprocessors: 1 };
        for d in [d, d.swapped(), d.narrowed([1, 1, 1]), GemmDesc { mma: with_units(d.mma, OpKind::Simt), ..d }] {
            for refusal in [d.check(), d.check_on(&machine)].into_iter().filter_map(Result::err) {
                prop_assert!(refusal.to_string().len() > 20);
            }
            let _ = (d.base().registers(), d.registers_available(blocks), d.smem_bytes(), d.threads(), d.base().tiles.accumulators(), d.base().store_access);
            let text = format!("{d:?} {}", d.epilogue);
            prop_assert!(text.starts_with("GemmDesc"));
            prop_assert_eq!(d.swapped().swapped(), d);
            match d.to_json() {
                Ok(text) => prop_assert_eq!(GemmDesc::from_json(&text).expect("a written description"), d),
                Err(error) => prop_assert_eq!(error.to_string(), d.epilogue.check().message()),
            }
        }
    }

    #[test]
    fn advice_ends_at_a_kernel_or_at_a_refusal_without_advice(d in legal(), spoils in proptest::collection::vec((0..NUMBERS, number()), 1..4)) {
        follow_advice(spoils.into_iter().fold(d, |d, (field, x)| spoiled(d, field, x)), advised)?;
    }
}
