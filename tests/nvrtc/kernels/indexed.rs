//! Kernels that address A, B, or D through an index list.

use super::{
    Kernel, all_clean, by_threads, random_descriptions, rare_kinds, rotated_defaults, stored_by_tma,
};
use crate::harness::{groups_k::groups_along_k, prelude::*, random_cases::orders};

/// Returns a kernel with the lists that three bits select: of A, of B, and of the user's rows of D.
/// The fourth bit selects a D with two strides.
fn with_lists((name, desc, arch): Kernel, bits: usize) -> Kernel {
    let [a, b, d] = [0, 1, 2].map(|bit| bits >> bit & 1 == 1);
    let strided = bits >> 3 & 1 == 1;
    let addressing = Addressing { gathers: [a, b], scatters: d.then_some(Axis::M), strided };
    (format!("{name}, lists {bits}"), desc.for_addressing(addressing.enter(desc.frame)), arch)
}

/// Kernels with each main loop and MMA, for all combinations of lists.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_with_index_lists_compile_clean() {
    let mut kernels: Vec<_> = rotated_defaults(0).chain(rotated_defaults(4)).collect();
    kernels.extend(random_descriptions(24_000, 48, ArchKind::Sm90, description));
    kernels.extend(random_descriptions(25_000, 16, ArchKind::Sm80, description));
    kernels.extend(stored_by_tma(26_000..26_024));
    kernels.extend(by_threads(27_000..27_012));
    let kernels = kernels.into_iter().enumerate();
    let mut kernels: Vec<_> =
        kernels.map(|(number, kernel)| with_lists(kernel, 1 + number % 15)).collect();
    // The indices need registers that some random descriptions do not have.
    kernels.retain(|(_, desc, _)| desc.check().is_ok() && !desc.addressing().is_plain());
    let addressing: HashSet<_> = kernels.iter().map(|(_, desc, _)| desc.addressing()).collect();
    // A scattered axis is M or N in the kernel's frame.
    assert!(addressing.len() >= 14, "{addressing:?}");
    assert!(kernels.len() >= 60, "{} kernels", kernels.len());
    all_clean("kernels with index lists", kernels);
}

/// SIMT kernels whose indexed lines are contiguous, so each access has an address of its own.
#[test]
#[ignore = "needs NVRTC"]
fn indexed_lines_that_are_contiguous_compile_clean() {
    let drawn = random_descriptions(24_000, 300, ArchKind::Sm90, description);
    let gathering = drawn.map(|kernel| with_lists(kernel, 11));
    let mut kernels: Vec<_> = gathering.filter(|(_, desc, _)| desc.check().is_ok()).collect();
    kernels.retain(|(_, desc, _)| {
        desc.base().operands.iter().any(|operand| {
            operand.indexed && !operand.k_contiguous && operand.thread_map().accesses() >= 8
        })
    });
    assert!(kernels.len() >= 60, "{} kernels", kernels.len());
    all_clean("indexed lines that are contiguous", kernels);
}

/// Kernels of groups along K with each main loop and MMA, for all combinations of lists.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_of_groups_along_k_with_index_lists_compile_clean() {
    let mut kernels: Vec<_> = rotated_defaults(2).chain(rotated_defaults(6)).collect();
    kernels.extend(random_descriptions(44_000, 32, ArchKind::Sm90, description));
    kernels.extend(stored_by_tma(46_000..46_016));
    kernels.extend(rare_kinds(48_000, 12));
    kernels.retain(|(_, desc, _)| desc.split_k() == 1 && groups_along_k(desc));
    let grouped = kernels.into_iter().map(|(name, d, arch)| (name, d.for_groups(Axis::K), arch));
    let lists = grouped.enumerate().map(|(number, kernel)| with_lists(kernel, 1 + number % 15));
    let mut kernels: Vec<_> = lists.collect();
    kernels.retain(|(_, desc, _)| desc.check().is_ok() && !desc.addressing().is_plain());
    let pairs: HashSet<_> =
        kernels.iter().map(|(_, d, _)| (d.mainloop.kind().name(), d.mma.kind().name())).collect();
    assert!(kernels.len() >= 40 && pairs.len() == 8, "{} kernels, {pairs:?}", kernels.len());
    all_clean("kernels of groups along K with index lists", kernels);
}

/// The main loops of tensor cores read auxiliary matrices and C at the rows of D, in each layout.
/// The register model does not count the operands of an epilogue, so a kernel may spill.
#[test]
#[ignore = "needs NVRTC"]
fn scattered_epilogues_compile() {
    let epilogue = "relu(alpha * acc + beta * c + aux1 + multiply(bias_m, bias_n))";
    let epilogue = epilogue.parse::<EpilogueDesc>().expect("an expression");
    let types = [ElementKind::F16, ElementKind::F32].map(|c| Combined {
        c,
        ..element_types(ElementKind::F16, ElementKind::F32, ElementKind::F32)
    });
    let mut kernels = Vec::new();
    for (orders, types) in orders().flat_map(|orders| types.map(|types| (orders, types))) {
        let of = |arch| default_description(OpKind::TensorOp, arch, types, orders).ok();
        for arch in [ArchKind::Sm80, ArchKind::Sm90] {
            let Some(desc) = of(arch) else { continue };
            let name = format!("{types:?} {orders:?}");
            let bits = 4 << (kernels.len() % 2);
            kernels.push(with_lists((name, but!(desc, epilogue), arch), bits));
        }
    }
    kernels.retain(|(_, desc, _)| desc.check().is_ok());
    assert!(kernels.len() >= 24, "{} kernels", kernels.len());
    super::assert_clean("scattered epilogues", kernels, |cache, (name, desc, arch)| match compile(
        cache,
        &unit_of(desc, true),
        arch.machine().sm,
    ) {
        Err(error) => Some(format!("{name}\n{error}")),
        Ok(entry) => entry.log.contains("warning").then(|| entry.log.clone()),
    });
}

/// The gather pass compiles for each width of its accesses.
#[test]
#[ignore = "needs NVRTC"]
fn gather_passes_compile_clean() {
    use falchion::internals::operand::GatherDesc;
    let units = [1, 2, 4, 8, 16].map(|bytes| PassDesc::Gather(GatherDesc { bytes }));
    super::assert_clean("gather passes", units.to_vec(), |cache, pass| {
        match compile(cache, &pass.unit(true), 80) {
            Err(error) => Some(error.to_string()),
            Ok(entry) => {
                let report = Report::read(&entry.log).filter(|report| report.is_clean());
                report.is_none().then(|| format!("{pass:?}: {}", entry.log))
            }
        }
    });
}
