//! Kernels whose producer warps gather the lines of A or B.

use crate::harness::prelude::*;
use crate::kernels::{Kernel, all_clean, rotated_defaults, stored_by_threads, stored_by_tma};

/// Returns whether the producer gathers A and B.
fn gathered(desc: &GemmDesc) -> [bool; 2] {
    desc.components().map_or([false; 2], |components| components.ring.gathered)
}

/// Returns a kernel that gathers A, B, or both, in one of the modes.
fn gathering((name, desc, arch): Kernel, number: usize) -> Kernel {
    let bits = 1 + number % 3;
    let gathers = [bits & 1 == 1, bits & 2 == 2];
    let addressing = Addressing { gathers, ..Addressing::PLAIN };
    let desc = match number / 3 % 6 {
        0..3 => desc,
        3 => desc.for_batch(2),
        4 => desc.for_groups(Axis::M),
        _ => desc.for_groups(Axis::N),
    };
    (format!("{name}, gathers {gathers:?}"), desc.for_addressing(addressing), arch)
}

/// The registers of the producer hold the indices of its lines, so no kernel spills.
/// `OVERHEAD` of `src/threadblock/tma_ring/gathered_lines.rs` must be large enough for this test to
/// pass.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_whose_producers_gather_compile_clean() {
    let mut kernels: Vec<_> = [1, 2, 3, 5].into_iter().flat_map(rotated_defaults).collect();
    kernels.extend(stored_by_tma(33_000..33_080));
    kernels.extend(stored_by_threads(34_000..34_032));
    let kernels = kernels.into_iter().enumerate();
    let mut kernels: Vec<_> = kernels.map(|(number, kernel)| gathering(kernel, number)).collect();
    kernels.retain(|(_, desc, _)| desc.check().is_ok() && gathered(desc) != [false; 2]);
    let kinds: BTreeSet<_> = kernels.iter().map(|(_, desc, _)| gathered(desc)).collect();
    let modes: BTreeSet<_> =
        kernels.iter().map(|(_, desc, _)| format!("{:?}", desc.work.mode)).collect();
    println!("{} kernels, {kinds:?}, {modes:?}", kernels.len());
    assert!(kernels.len() >= 60 && kinds.len() == 3 && modes.len() >= 4);
    all_clean("kernels whose producers gather", kernels);
}
