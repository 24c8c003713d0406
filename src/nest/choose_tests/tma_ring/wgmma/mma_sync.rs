//! Tests of the selection of `mma.sync` kernels that read operands in place.

use crate::nest::choose::tests::{by_tma, main_loop};
use crate::{layout::Order, nest::ProblemSize, numeric::ElementKind, threadblock::MainloopKind};

/// In-place kernels are chosen where they measured less time than passes and a kernel
/// (`lab/data/trials.csv`, log `odd_in_graphs`).
#[test]
fn rows_that_lie_anywhere_are_read_in_place_where_that_takes_less_time() {
    let (along_k, square) = ([Order::Row, Order::Col], |size| ProblemSize::new((size, size, size)));
    for (kind, size, mainloop) in [
        (ElementKind::Bf16, 255, MainloopKind::Pipelined),
        (ElementKind::Bf16, 260, MainloopKind::Multistage),
        (ElementKind::Bf16, 516, MainloopKind::Multistage),
        (ElementKind::I8, 255, MainloopKind::Pipelined),
        (ElementKind::Tf32, 255, MainloopKind::Multistage),
    ] {
        assert_eq!(main_loop(kind, along_k, square(size)), mainloop, "{kind} {size}");
    }
}

/// Copies that exceed the workspace are not made. The same comparison applies to transposes.
#[test]
fn without_a_workspace_rows_are_read_in_place() {
    let (along_k, along_n) = ([Order::Row, Order::Col], [Order::Row; 2]);
    let odd = ProblemSize::new((2044, 2044, 2044));
    let bytes = 2 * 2044 * 2048 * 2;
    for (for_passes, copies) in [(0, false), (bytes - 1, false), (bytes, true)] {
        assert_eq!(
            by_tma(ElementKind::Bf16, along_k, ProblemSize { for_passes, ..odd }),
            copies,
            "{for_passes}"
        );
    }
    let whole = ProblemSize::new((8192, 8192, 8192));
    assert!(by_tma(ElementKind::Tf32, along_n, ProblemSize { for_passes: 0, ..whole }));
    let transposed = [Order::Col, Order::Row];
    assert!(by_tma(ElementKind::Tf32, transposed, whole));
    assert!(!by_tma(ElementKind::Tf32, transposed, ProblemSize { for_passes: 0, ..whole }));
}
