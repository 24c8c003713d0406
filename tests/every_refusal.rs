//! Every refusal is reached, and read: its sentence names the field, its value and the limit.

use falchion::{
    Error, Refusal,
    arch::{ArchKind, Machine, OpKind},
    desc::GemmDesc,
    device::{HostMatrices, HostSlice, HostSliceMut, MatrixShape, Shapes, Source, host::Mode, run_on_host},
    epilogue::EpilogueDesc,
    layout::Order,
    numeric::{ComputeKind, ElementKind},
    prelude::*,
    shape::Mnk,
    threadblock::{Along, MainloopKind, SmemLayout},
};

type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor>;
const DESC: GemmDesc = Rows::DESC;
const BYTES: GemmDesc = Gemm::<i8, RowMajor, i8, RowMajor, i8, RowMajor>::DESC;

/// Whether the sentence of a refusal has all these words in it, in this order.
fn says(refusal: impl std::fmt::Display, words: &[&str]) {
    let sentence = refusal.to_string();
    let mut rest = sentence.as_str();
    for word in words {
        let Some((_, after)) = rest.split_once(word) else {
            panic!("`{sentence}` does not say `{word}` where it should: {words:?}");
        };
        rest = after;
    }
    assert!(sentence.len() < 380 && !sentence.ends_with('.') && !sentence.contains("  "), "{sentence}");
}

fn refused(desc: GemmDesc) -> Refusal {
    desc.check().expect_err("this description is no kernel")
}

#[test]
fn shapes_that_are_no_kernel() {
    let tile = |threadblock, warp| GemmDesc { threadblock, warp, ..DESC };
    let (tb, warp) = (Mnk::new(128, 128, 16), Mnk::new(32, 64, 16));
    says(refused(tile(tb, Mnk::new(48, 64, 16))), &["warp M = 48", "8, 16, 32, 64, 128", "nearest is 64"]);
    says(refused(tile(tb, Mnk::new(32, 256, 16))), &["warp N = 256", "8, 16, 32, 64, 128", "nearest is 128"]);
    says(refused(tile(tb, Mnk::new(8, 8, 16))), &["warp M x N = 64", "from 128 to 4096", "nearest is 128"]);
    says(refused(tile(tb, Mnk::new(128, 128, 16))), &["warp M x N = 16384", "4096"]);
    says(refused(tile(tb, Mnk::new(32, 64, 4))), &["warp K = 4", "from 8 to 32", "nearest is 8"]);
    says(refused(tile(tb, Mnk::new(32, 64, 9))), &["warp K = 9", "odd", "nearest is 10"]);
    says(refused(tile(Mnk::new(512, 128, 16), warp)), &["threadblock M = 512", "from 8 to 256", "nearest is 256"]);
    says(refused(tile(Mnk::new(128, 0, 16), warp)), &["threadblock N = 0", "from 8 to 256", "nearest is 8"]);
    says(refused(tile(Mnk::new(128, 128, 520), warp)), &["threadblock K = 520", "from 8 to 512", "nearest is 512"]);
    says(refused(tile(Mnk::new(120, 128, 16), warp)), &["threadblock M = 120", "warp tiles of 32", "nearest is 128"]);
    says(refused(tile(Mnk::new(128, 128, 24), warp)), &["threadblock K = 24", "warp tiles of 16", "nearest is 32"]);
    says(refused(tile(Mnk::new(256, 256, 16), Mnk::new(32, 32, 16))), &["warps in a block = 64", "from 1 to 16"]);
    let instruction = Mnk::new(16, 8, 8);
    says(refused(GemmDesc { instruction, ..DESC }), &["instruction extent = 16", "1, on the CUDA cores", "nearest is 1"]);
}

#[test]
fn main_loops_copies_and_layouts_that_are_no_kernel() {
    let pipelined = GemmDesc { mainloop: MainloopKind::Pipelined, stages: 2, ..DESC };
    says(refused(GemmDesc { stages: 3, ..pipelined }), &["stages = 3", "pipelined main loop has 2"]);
    says(refused(GemmDesc { stages: 1, ..pipelined }), &["stages = 1", "from 2 to 2"]);
    says(refused(GemmDesc { stages: 17, ..DESC }), &["stages = 17", "from 2 to 16", "nearest is 16"]);
    says(refused(GemmDesc { arch: ArchKind::Sm75, ..DESC }), &["asynchronously", "sm75", "sm80"]);
    says(refused(GemmDesc { swizzle: falchion::threadblock::SwizzleKind::Identity(65), ..DESC }), &["swizzle = 65", "1 to 64"]);
    says(refused(GemmDesc { blocks_per_sm: 0, ..DESC }), &["blocks per multiprocessor = 0", "from 1 to 16", "nearest is 1"]);
    says(refused(GemmDesc { align_a: 3, ..DESC }), &["alignment of A = 3", "1, 2, 4", "nearest is 4"]);
    says(refused(GemmDesc { align_b: 8, ..DESC }), &["alignment of B = 8", "1, 2, 4", "nearest is 4"]);
    says(refused(GemmDesc { align_c: 0, ..DESC }), &["alignment of C = 0", "nearest is 1"]);
    let narrow = GemmDesc { threadblock: Mnk::new(32, 64, 10), warp: Mnk::new(32, 64, 10), blocks_per_sm: 1, ..pipelined };
    says(refused(narrow), &["alignment of A = 4", "does not divide the 10", "nearest is 2"]);
    let swizzled = |bits, base, shift| SmemLayout::Swizzled { along: Along::Mn, bits, base, shift };
    let smem = |smem_b| GemmDesc { smem_b, ..pipelined };
    says(refused(smem(swizzled(0, 0, 0))), &["swizzle bits = 0", "from 1 to 5"]);
    says(refused(smem(swizzled(1, 6, 0))), &["swizzle base = 6", "from 0 to 5"]);
    says(refused(smem(swizzled(1, 0, 9))), &["swizzle shift = 9", "from 0 to 8"]);
    says(refused(smem(swizzled(5, 5, 0))), &["swizzle of B", "within 1024", "row of 128"]);
    let padded = |padding| SmemLayout::Padded { along: Along::Mn, padding };
    says(refused(smem(padded(65))), &["padding = 65", "from 0 to 64", "nearest is 64"]);
    says(
        refused(GemmDesc { smem_b: padded(1), ..DESC }),
        &["asynchronous copy of B moves 4", "only 1", "nearest alignment is 1"],
    );
    let bytes = GemmDesc { mainloop: MainloopKind::Multistage, align_b: 2, ..BYTES };
    says(
        refused(GemmDesc { smem_a: SmemLayout::Padded { along: Along::K, padding: 0 }, ..bytes }),
        &["copy of B", "2 bytes", "i8", "nearest is 4"],
    );
}

#[test]
fn budgets_types_and_epilogues_that_are_no_kernel() {
    let crowded = GemmDesc { blocks_per_sm: 4, ..DESC };
    says(refused(crowded), &["needs about", "256 threads a block and 4 blocks", "it can have 64", "smaller warp tile"]);
    let deep = GemmDesc { stages: 10, blocks_per_sm: 1, arch: ArchKind::Sm86, ..DESC };
    says(refused(deep), &["needs", "10 stages of", "sm_86 has 101376 for each of 1 block", "nearest number of stages is"]);
    let sliced = GemmDesc {
        threadblock: Mnk::new(128, 128, 16),
        warp: Mnk::new(64, 64, 8),
        mainloop: MainloopKind::Pipelined,
        stages: 2,
        blocks_per_sm: 1,
        ..DESC
    };
    // No machine that there is has so little shared memory for so many registers.
    let small = Machine { shared_bytes_per_block: 40_000, ..ArchKind::Sm80.machine() };
    says(
        sliced.check_on(&small).expect_err("the slices do not fit"),
        &["65536 bytes", "slices of K hand over 65536", "sm_80 has 40000 for each of 1 block", "smaller threadblock tile"],
    );
    says(
        refused(GemmDesc { b: ElementKind::F16, ..DESC }),
        &["f32 by f16", "accumulating in f32 into f32", "A and B share a type"],
    );
    says(refused(GemmDesc { op: OpKind::TensorOp, ..DESC }), &["op tensorop on sm80", "op simt has"]);
    says(refused(GemmDesc { compute: ComputeKind::F64, ..DESC }), &["from f32 to f32", "double"]);
    let ancient = Machine { sm: 75, ..ArchKind::Sm75.machine() };
    says(DESC.check_on(&ancient).expect_err("sm80 on sm75"), &["sm80", "sm_75", "nearest tag is sm75"]);
    let unfinished = EpilogueDesc::leaf(falchion::epilogue::Op::Add);
    says(refused(GemmDesc { epilogue: unfinished, ..DESC }), &["epilogue is not an expression", "lacks"]);
    let two = EpilogueDesc::leaf(falchion::epilogue::Op::Source).then(falchion::epilogue::Op::Source);
    says(refused(GemmDesc { epilogue: two, ..DESC }), &["epilogue", "one result"]);
    let slot = EpilogueDesc::leaf(falchion::epilogue::Op::Scalar(8));
    says(refused(GemmDesc { epilogue: slot, ..DESC }), &["epilogue", "beyond s7"]);
    let long = (0..32).fold(EpilogueDesc::leaf(falchion::epilogue::Op::Source), |e, _| e.then(falchion::epilogue::Op::Relu));
    says(refused(GemmDesc { epilogue: long, ..DESC }), &["epilogue", "more than 32"]);
    let error = falchion::verify::HostBuffer::poisoned(ElementKind::E4m3, 1).expect_err("fp8 has no form yet");
    says(error, &["e4m3", "f64, f32, tf32"]);
}

/// A row-major problem whose memory is as large as one likes.
fn shapes(m: usize, n: usize, k: usize) -> Shapes {
    let matrix = |columns| MatrixShape { order: Order::Row, leading: columns, length: usize::MAX };
    let scalars = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    Shapes { m, n, k, a: matrix(k), b: matrix(n), c: Source::None, d: matrix(n), scalars }
}

fn unfit(shapes: Shapes, desc: &GemmDesc) -> Refusal {
    shapes.check(desc).expect_err("this problem does not fit")
}

#[test]
fn extents_beyond_what_kernels_count() {
    let beyond = 1usize << 31;
    for (axis, m, n, k) in [("M", beyond, 1, 1), ("N", 1, beyond, 1), ("K", 1, 1, beyond)] {
        says(unfit(shapes(m, n, k), &DESC), &[axis, "= 2147483648", "largest extent, 2147483647"]);
        says(unfit(shapes(m, n, k).canonical(), &DESC), &["2147483648"]);
    }
    says(unfit(shapes(usize::MAX, 0, 0), &DESC), &["M = 18446744073709551615", "2147483647"]);
    for size in [(beyond - 1, 1, 1), (1, beyond - 1, 1), (1, 1, beyond - 1), (beyond - 1, 0, beyond - 1)] {
        assert_eq!(shapes(size.0, size.1, size.2).check(&DESC), Ok(()));
    }
    says(
        unfit(shapes(beyond - 1, beyond - 1, 1), &DESC),
        &["281474976710656 tiles", "at most 2147483647 blocks", "larger threadblock tile"],
    );
}

#[test]
fn leading_dimensions_and_lengths() {
    // Not captured: rustc 1.95 cannot compile closures that take the rest of a struct with an array from outside.
    let fits = || shapes(10, 20, 30);
    let a = |leading, length| Shapes { a: MatrixShape { order: Order::Row, leading, length }, ..fits() };
    let b = |leading, length| Shapes { b: MatrixShape { order: Order::Col, leading, length }, ..fits() };
    let d = |leading, length| Shapes { d: MatrixShape { order: Order::Row, leading, length }, ..fits() };
    let c = |leading, length| {
        let c = Source::Matrix(MatrixShape { order: Order::Col, leading, length });
        Shapes { c, scalars: [1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], ..fits() }
    };
    says(unfit(a(29, 10_000), &DESC), &["leading dimension of A = 29", "number of columns", "nearest is 30"]);
    says(unfit(b(29, 10_000), &DESC), &["leading dimension of B = 29", "number of rows", "nearest is 30"]);
    says(unfit(c(9, 10_000), &DESC), &["leading dimension of C = 9", "number of rows", "nearest is 10"]);
    says(unfit(d(0, 10_000), &DESC), &["leading dimension of D = 0", "number of columns", "nearest is 20"]);
    // The last row ends where its elements do.
    assert_eq!((a(31, 9 * 31 + 30).check(&DESC), c(12, 19 * 12 + 10).check(&DESC)), (Ok(()), Ok(())));
    says(unfit(a(31, 9 * 31 + 29), &DESC), &["A has 308 elements", "10 x 30", "leading dimension of 31", "takes 309"]);
    says(unfit(b(30, 599), &DESC), &["B has 599 elements", "30 x 20", "takes 600"]);
    says(unfit(c(10, 199), &DESC), &["C has 199 elements", "10 x 20", "takes 200"]);
    says(unfit(d(20, 0), &DESC), &["D has 0 elements", "10 x 20", "takes 200"]);
    let size = ["10 x 30", "leading dimension of 18446744073709551615", "beyond 64 bits"];
    says(unfit(a(usize::MAX, usize::MAX), &DESC), &[&["the size of A"], &size[..]].concat());
    says(unfit(d(usize::MAX, usize::MAX), &DESC), &["the size of D", "10 x 20", "18446744073709551615", "beyond 64 bits"]);
    says(unfit(c(usize::MAX / 4, usize::MAX), &DESC), &["the size of C", "10 x 20", "4611686018427387903"]);
    says(unfit(a(usize::MAX / 16, usize::MAX / 2), &DESC), &["A has", "takes 10376293541461622805"]);
    // Packed matrices of the largest extents stay within 64 bits.
    assert_eq!(shapes(1 << 30, 128, (1 << 31) - 1).check(&DESC), Ok(()));
}

#[test]
fn operands_scalars_and_functions() {
    let needs_c = Shapes { scalars: [1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], ..shapes(2, 2, 2) };
    says(unfit(needs_c, &DESC), &["epilogue reads C", "do not give"]);
    let a = [0f32; 4];
    let mut d = [0f32; 4];
    let error = Rows::new().run(Arguments::new((2, 2, 2), &a, &a, &mut d).scalar::<1>(1.0)).expect_err("there is no C");
    assert!(matches!(error, Error::Refused(Refusal::MissingOperand { name: "C" })));
    for x in [f64::NAN, f64::INFINITY] {
        let scalars = [1.0, 0.0, x, 0.0, 0.0, 0.0, 0.0, 0.0];
        says(unfit(Shapes { scalars, ..shapes(2, 2, 2) }, &BYTES), &["scalar s2", "not a finite number", "integers"]);
        assert_eq!(Shapes { scalars, ..shapes(2, 2, 2) }.check(&BYTES.for_scalars(&scalars)), Ok(()));
    }
    let epilogue = "user_00000000000000ff(acc)".parse().expect("it is an expression");
    says(unfit(shapes(2, 2, 2), &GemmDesc { epilogue, ..DESC }), &["user function 255", "register"]);
}

#[test]
fn matrices_that_are_not_what_the_kernel_takes() {
    let (a, b) = ([0f32; 4], [0f64; 4]);
    let run = |desc: &GemmDesc, shapes: Shapes, b: HostSlice<'_>| {
        let mut d = [0f32; 4];
        let matrices = HostMatrices { a: HostSlice::new::<f32>(&a), b, c: Source::None, d: HostSliceMut::new::<f32>(&mut d) };
        run_on_host(desc, Mode::Fast, &shapes, matrices).expect_err("these matrices do not fit")
    };
    let fits = Shapes {
        a: MatrixShape { length: 4, ..shapes(2, 2, 2).a },
        b: MatrixShape { length: 4, ..shapes(2, 2, 2).b },
        d: MatrixShape { length: 4, ..shapes(2, 2, 2).d },
        ..shapes(2, 2, 2)
    };
    says(run(&DESC, fits, HostSlice::new::<f64>(&b)), &["matrix of f64", "takes f32"]);
    let turned = Shapes { b: MatrixShape { order: Order::Col, ..fits.b }, ..fits };
    says(run(&DESC, turned, HostSlice::new::<f32>(&a)), &["A by row and B by row", "row-major D"]);
    let exchanged = Shapes { d: MatrixShape { order: Order::Col, ..fits.d }, ..fits };
    says(run(&DESC, exchanged, HostSlice::new::<f32>(&a)), &["A by row and B by row", "lie otherwise"]);
}

/// What only a device refuses: its sentences, read here.
#[test]
fn sentences_of_the_device() {
    let misaligned = Refusal::Misaligned { operand: "A", align: 4, what: "leading dimension", value: 1023, nearest: 1 };
    says(
        misaligned,
        &["accesses to A of 4 elements", "leading dimension", "multiple of 4", "it is 1023", "nearest alignment is 1"],
    );
    says(Refusal::Overlap { operand: "B" }, &["D overlaps B", "memory of its own"]);
    says(Refusal::PartlyShared, &["D and C share some"]);
    says(Refusal::NotPrepared, &["not compiled", "captured", "prepare"]);
    says(Refusal::OtherDevice { operand: "A" }, &["A", "another device than D"]);
}

/// Where a refusal tells the nearest legal value, taking it helps.
#[test]
fn the_nearest_value_is_legal() {
    for extent in 0..300 {
        let desc = GemmDesc { warp: Mnk::new(extent, 64, 16), ..DESC };
        if let Err(Refusal::NotOneOf { field: "warp M", nearest, .. }) = desc.check() {
            let better = GemmDesc { warp: Mnk::new(nearest as u32, 64, 16), ..DESC };
            assert!(!matches!(better.check(), Err(Refusal::NotOneOf { field: "warp M", .. })), "{extent} {nearest}");
        }
    }
    for stages in 0..40 {
        let desc = GemmDesc { stages, blocks_per_sm: 1, ..DESC };
        if let Err(Refusal::SharedMemory { available, stage, .. }) = desc.check() {
            assert_eq!(GemmDesc { stages: available / stage, ..desc }.check(), Ok(()), "{stages}");
        }
    }
    for align in 0..20 {
        for desc in [DESC, BYTES] {
            if let Err(Refusal::NotOneOf { field: "alignment of A", nearest, .. }) = (GemmDesc { align_a: align, ..desc }).check()
            {
                let better = GemmDesc { align_a: nearest as u32, ..desc };
                assert!(!matches!(better.check(), Err(Refusal::NotOneOf { .. })), "{align} {nearest}");
            }
        }
    }
}
