//! Tests of the selection of `mma.sync` kernels that read operands in place.

use crate::nest::choose::tests::main_loop;
use crate::{layout::Order, nest::ProblemSize, numeric::ElementKind, threadblock::MainloopKind};

/// Small problems with an MN-major A are read in place, and large ones are transposed for TMA.
#[test]
fn small_transposed_operands_are_read_in_place() {
    let transposed = [Order::Col, Order::Row];
    for (size, mainloop) in [
        (256, MainloopKind::Multistage),
        (512, MainloopKind::Multistage),
        (1000, MainloopKind::TmaRing),
        (1024, MainloopKind::TmaRing),
    ] {
        assert_eq!(
            main_loop(ElementKind::Tf32, transposed, ProblemSize::new((size, size, size))),
            mainloop,
            "{size}"
        );
    }
}
