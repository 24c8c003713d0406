//! TMA copies under NVRTC: every form compiles for sm_90a without a spill, kernel parameters keep
//! their maps aligned, and the map of a box equals its twin.

use crate::harness::{
    prelude::*,
    tensor_kernels::{ENTRIES, program},
};

#[test]
#[ignore = "needs NVRTC"]
fn every_form_of_a_copy_compiles_clean() {
    let program = program();
    let compiled =
        Nvrtc::get().expect("NVRTC").compile(&program).unwrap_or_else(|error| panic!("{error}"));
    let report =
        Report::read(&compiled.log).unwrap_or_else(|| panic!("no kernel in:\n{}", compiled.log));
    assert!(report.is_clean() && !compiled.log.contains("warning"), "{}", compiled.log);
    for entry in ENTRIES.iter().flatten().chain([&MULTICAST]) {
        assert!(compiled.log.contains(&format!("'{entry}'")), "no {entry} in\n{}", compiled.log);
    }
    println!("{} bytes of cubin; at most {} registers", compiled.image.len(), report.registers);
}

#[test]
#[ignore = "needs NVRTC"]
fn a_struct_or_map_that_differs_from_rust_does_not_compile() {
    let right = program();
    let refused = |from: &str, to: &str| {
        assert!(right.source.contains(from), "{from}");
        let mut wrong = right.clone();
        wrong.source = wrong.source.replacen(from, to, 1);
        Nvrtc::get().expect("NVRTC").compile(&wrong).map(|_| ()).message()
    };
    // Without the alignment the struct has the same size, but the address of a map is not a
    // multiple of 64.
    let packed = refused("struct alignas(64) TensorMap", "struct TensorMap");
    assert!(packed.contains("TensorMap: the Rust struct and the CUDA struct differ"), "{packed}");
    let short = refused("unsigned reserved[2];", "unsigned reserved[3];");
    assert!(
        short.contains("TensorCopyParams: the Rust struct and the CUDA struct differ"),
        "{short}"
    );
    let mutant =
        refused("SharedBox<24, 16, 8, 3, 1024>>() == ", "SharedBox<24, 16, 8, 3, 1024>>() == 1");
    assert!(mutant.contains("tile: the Rust map and the CUDA map differ"), "{mutant}");
}
