//! Emulation of `f32` with `wgmma`: the size of the workspace.

use crate::harness::{
    on_tensor_cores::{desc, problem},
    prelude::*,
};
use falchion::internals::operand::DecomposeStep;

/// The workspace holds the terms of both operands, each at a multiple of 256 bytes. If rows are
/// scaled, it also holds 16 bytes per row.
#[test]
fn the_workspace_holds_the_terms() {
    let [m, n, k] = [100, 50, 130];
    for (emulation, bytes) in [
        (EmulationKind::Bf16x6, (100 * 192 * 3 * 2) + (50 * 192 * 3 * 2) + 256),
        (EmulationKind::Bf16x3, (100 * 192 * 2 * 2) + (50 * 192 * 2 * 2) + 256),
        (
            EmulationKind::F16x3,
            (100 * 192 * 2 * 2) + 1792 + 256 + (50 * 192 * 2 * 2) + 1024 + 256 + 256,
        ),
    ] {
        for orders in ORDERS {
            let routes = desc(emulation, orders)
                .routes(&problem(orders, [m, n, k]).at([4, 8]))
                .expect("a kernel");
            let whole = |bytes: u64| bytes.next_multiple_of(256);
            assert_eq!(
                (routes.to_string().as_str(), routes.a.leading),
                ("A decomposed, B decomposed", 192 * emulation.terms() as usize)
            );
            let of_kernel = routes.leave(desc(emulation, orders).frame);
            assert!(
                of_kernel.b.offset.is_multiple_of(256) && of_kernel.b.offset == of_kernel.a.bytes
            );
            assert!(
                routes.workspace_bytes().abs_diff(whole(bytes)) <= 512,
                "{} {bytes}",
                routes.workspace_bytes()
            );
        }
    }
    assert_eq!(
        (
            DecomposeStep::for_emulation(EmulationKind::Bf16x6).len(),
            DecomposeStep::for_emulation(EmulationKind::F16x3).len()
        ),
        (1, 4)
    );
}
