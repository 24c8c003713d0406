//! Tests of the selection among kernels with `wgmma`: by TMA or in place, and the sources of knobs.

use crate::{
    arch::{ArchKind, OpKind},
    layout::{MatrixType, Order},
    nest::{Origin, ProblemSize, Request, Target, choose::tests::by_tma},
    numeric::ElementKind,
};

/// Rows that TMA can read are never read in place, and neither are the others of large problems.
#[test]
fn rows_of_large_problems_are_copied_for_tma() {
    let (along_k, square) = ([Order::Row, Order::Col], |size| ProblemSize::new((size, size, size)));
    for (kind, copied) in [
        (ElementKind::Bf16, &[511, 765, 1004, 1023, 4095][..]),
        (ElementKind::I8, &[511, 1004, 1023, 4095]),
        (ElementKind::Tf32, &[767, 1023, 2047]),
        (ElementKind::E4m3, &[511, 1000]),
    ] {
        for &size in copied {
            assert!(by_tma(kind, along_k, square(size)), "{kind} {size}");
        }
        for size in [768, 1024, 4096] {
            assert!(
                by_tma(kind, along_k, ProblemSize { for_passes: 0, ..square(size) }),
                "{kind} {size}"
            );
        }
    }
    let batch = ProblemSize { batch: 16, ..square(300) };
    assert!(by_tma(ElementKind::Bf16, along_k, batch));
    let pitched = ProblemSize { leading: [Some(1008); 2], ..square(1002) };
    assert!(by_tma(ElementKind::Bf16, along_k, pitched));
    // Rows of 2^30 + 1 elements do not overflow.
    assert!(by_tma(ElementKind::Bf16, along_k, square((1 << 30) + 1)));
}

/// If TMA can read the operands, a TMA kernel is always chosen: in graph replays, it is faster
/// even for the smallest problems (`lab/data/trials.csv`, log `in_graphs`).
#[test]
fn operands_that_tma_reads_need_no_pass() {
    for kind in
        [ElementKind::Bf16, ElementKind::F16, ElementKind::I8, ElementKind::Tf32, ElementKind::E4m3]
    {
        for size in [16, 64, 256, 512, 1024] {
            for of in [
                ProblemSize::new((size, size, size)),
                ProblemSize { batch: 64, ..ProblemSize::new((size, size, size)) },
            ] {
                assert!(by_tma(kind, [Order::Row, Order::Col], of), "{kind} {size}");
            }
        }
    }
}

/// Threads gather a line more slowly than TMA copies it. Tiles of 128 x 256, whose products take
/// longer per line, hide the copies of rows of A.
#[test]
fn gathered_rows_select_more_columns() {
    let (bf16, machine) = (ElementKind::Bf16, ArchKind::Sm90.machine());
    let matrix = |order| Some(MatrixType { element: bf16, order });
    let [a, b, c] = [Order::Row, Order::Col, Order::Row].map(matrix);
    let request = Request { a, b, c, op: Some(OpKind::TensorOp), ..Request::default() };
    for extents in [(4096, 4096, 4096), (8192, 4096, 4096)] {
        let tile = |gathers| {
            let size = ProblemSize { gathers, ..ProblemSize::new(extents) };
            let resolved = request.resolve_for(ArchKind::Sm90, size, Some(&machine));
            let tile = resolved.expect("a kernel").desc.threadblock();
            (tile.m, tile.n)
        };
        assert_eq!(tile([false; 2]), (128, 128), "{extents:?}");
        assert_eq!(tile([true, false]), (128, 256), "{extents:?}");
    }
}

/// Two consumers share a threadblock tile of 256 rows on tensor cores. By default, each
/// consumer has its own tile, with ping-pong.
#[test]
fn consequences_of_a_pin_name_the_pin() {
    let matrix = |order: &str| Some(format!("bf16:{order}").parse().unwrap());
    let knobs = vec![("threadblock".to_owned(), "256x128x64".to_owned())];
    let request = Request {
        a: matrix("row"),
        b: matrix("col"),
        c: matrix("row"),
        op: Some(OpKind::TensorOp),
        knobs,
        ..Request::default()
    };
    let from = |request: &Request, flag: &str| {
        let choices = request.resolve(ArchKind::Sm90).unwrap().choices;
        choices.iter().find(|choice| choice.flag == flag).expect("a knob of its kernel").from
    };
    let of = |flag| from(&request, flag);
    assert_eq!(
        [of("--threadblock"), of("--schedule"), of("--swizzle")],
        [Origin::Flag, Origin::Derived, Origin::Default]
    );
    assert_eq!(from(&Request { knobs: Vec::new(), ..request }, "--schedule"), Origin::Default);
}

/// No CUDA core multiplies fp8, so the host uses tensor cores.
#[test]
fn fp8_selects_tensor_cores_on_the_host() {
    let a = Some(MatrixType::row(ElementKind::E4m3));
    let resolved = Request { a, ..Request::default() }.resolve(Target::Host(ArchKind::Sm90));
    assert_eq!(resolved.unwrap().desc.op(), OpKind::TensorOp);
}
