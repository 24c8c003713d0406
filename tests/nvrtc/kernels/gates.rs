//! Kernels whose epilogue combines a gate and its partner.

use super::{Kernel, all_clean};
use crate::harness::{gates::descriptions, prelude::*};

/// Random kernels of every main loop and MMA: no kernel spills, and the map of columns has the
/// fingerprint of its twin.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_with_gates_compile_clean() {
    let kernels: Vec<Kernel> = descriptions(0x6a80, 160)
        .into_iter()
        .enumerate()
        .map(|(number, (seed, desc))| {
            let modes = [desc, desc.for_batch(2), desc.for_groups(Axis::M)];
            let desc = modes[number % 3];
            (format!("seed {seed}"), if desc.check().is_ok() { desc } else { modes[0] }, desc.arch)
        })
        // NVRTC 13 does not compile for sm_70.
        .map(|(name, desc, arch)| (name, desc, arch.max(ArchKind::Sm75)))
        .filter(|(_, desc, _)| desc.limits.spills == SpillKind::Refused)
        .collect();
    let kinds: BTreeSet<_> = kernels
        .iter()
        .map(|(_, desc, _)| (desc.mainloop.kind().name(), desc.mma.kind().name()))
        .collect();
    println!("{} kernels, {kinds:?}", kernels.len());
    assert!(kernels.len() >= 100 && kinds.len() >= 6);
    all_clean("kernels with gates", kernels);
}

/// Default kernels with a gate resolve for each architecture and each type of 16 bits.
#[test]
#[ignore = "needs NVRTC"]
fn default_kernels_with_gates_compile_clean() {
    let mut kernels: Vec<Kernel> = Vec::new();
    for arch in [ArchKind::Sm80, ArchKind::Sm90] {
        for (types, op) in [
            (["bf16", "bf16"], OpKind::TensorOp),
            (["f16", "f16"], OpKind::TensorOp),
            (["i8", "i32"], OpKind::TensorOp),
            (["f32", "f32"], OpKind::Simt),
            (["f64", "f64"], OpKind::Simt),
        ] {
            for order in ["row", "col"] {
                let [a, c] = types;
                let matrices = [format!("{a}:row"), format!("{a}:{order}"), format!("{c}:row")];
                let pins = [("epilogue", "relu(gate) * up")];
                let request = Request {
                    op: Some(op),
                    arch: Some(arch),
                    ..request(matrices.each_ref().map(String::as_str), &pins)
                };
                let desc = request.resolve(arch).unwrap_or_else(|error| panic!("{error}")).desc;
                kernels.push((format!("{matrices:?}"), desc, arch));
            }
        }
    }
    let has_ring = |(_, desc, _): &Kernel| desc.has_producer();
    assert!(kernels.iter().filter(|kernel| has_ring(kernel)).count() >= 6, "{kernels:?}");
    all_clean("default kernels with gates", kernels);
}
