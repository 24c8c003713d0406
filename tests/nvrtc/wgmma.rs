//! Every stage of a warpgroup's product compiles, keeps its register budget, is not serialized, and
//! has the maps and descriptors of Rust. These tests need NVRTC and no GPU.
//!
//! `FALCHION_NVRTC=<folder> cargo test --test nvrtc wgmma:: -- --ignored --nocapture
//! --test-threads 1`

use super::kernels::{assert_clean, cache};
use crate::harness::{
    prelude::*,
    wgmma::probe::text::ProbeText,
    wgmma::{tile, types, words},
};

const HOPPER: u32 = 90;

fn fault(cache: &Cache, mma: &MmaWarpgroup) -> Option<String> {
    let entry = match compile(cache, &ProbeText::new(mma, true).unit, HOPPER) {
        Ok(entry) => entry,
        Err(error) => return Some(error.to_string()),
    };
    let report = Report::read(&entry.log);
    let clean = report.as_ref().is_some_and(|report| {
        report.is_clean() && report.registers >= mma.instruction().registers()
    });
    // C7519 reports an arrive that the compiler inserts although the text has it. Any other code
    // means lost speed.
    let coded = entry.log.lines().any(|line| line.contains("(C7") && !line.contains("(C7519)"));
    (!clean || coded || entry.log.contains("warning")).then(|| format!("{report:?}\n{}", entry.log))
}

fn all_clean(what: &str, stages: Vec<MmaWarpgroup>) {
    assert_clean(what, stages, |cache, mma| {
        fault(cache, mma).map(|fault| format!("{}: {fault}", words(mma)))
    });
}

#[test]
#[ignore = "needs NVRTC"]
fn every_type_width_and_layout_compiles_clean() {
    let stages: Vec<_> = types()
        .into_iter()
        .flat_map(|types| {
            [8, 64, 128, 192, 256]
                .into_iter()
                .flat_map(move |n| products(types, n, SwizzleMode::Bytes128))
        })
        .collect();
    all_clean("types, widths, and layouts", stages);
}

#[test]
#[ignore = "needs NVRTC"]
fn every_swizzle_compiles_clean() {
    let types = [ElementKind::F16, ElementKind::Tf32, ElementKind::I8]
        .map(|input| (input, input, input.accumulator()));
    let stages: Vec<_> = SwizzleMode::ALL[1..]
        .iter()
        .flat_map(|&swizzle| types.into_iter().flat_map(move |types| products(types, 96, swizzle)))
        .collect();
    all_clean("swizzles", stages);
}

/// The assembler refuses exactly the widths that are refused here.
#[test]
#[ignore = "needs NVRTC"]
fn the_assembler_refuses_the_same_widths() {
    let cache = cache();
    let stage = |input: ElementKind| {
        let b = tile(input, Along::K, SwizzleMode::Bytes128, 64);
        MmaWarpgroup::new(OperandA::Registers(input), b, input.accumulator(), 48).expect("a stage")
    };
    for (input, n, taken) in
        [(ElementKind::I8, 48, true), (ElementKind::I8, 56, false), (ElementKind::Bf16, 52, false)]
    {
        assert_eq!(
            MmaWarpgroup::new(OperandA::Registers(input), stage(input).b(), input.accumulator(), n)
                .is_some(),
            taken
        );
        let unit = ProbeText::new(&stage(input), false).unit;
        let config = unit.config.replace("n48k", &format!("n{n}k"));
        let answer = compile(&cache, &TranslationUnit { config, ..unit }, HOPPER);
        assert_eq!(answer.is_ok(), taken, "{input} n{n}");
        if let Err(error) = answer {
            println!(
                "{input} n{n}: {}",
                error
                    .to_string()
                    .lines()
                    .find(|line| line.contains("hape"))
                    .unwrap_or("no shape named")
            );
        }
    }
}

/// A map or a descriptor that differs from the kernel's stops the compilation.
#[test]
#[ignore = "needs NVRTC"]
fn a_wrong_map_or_descriptor_is_named() {
    let cache = cache();
    let bf16 = ElementKind::Bf16;
    let shared = OperandA::Shared(tile(bf16, Along::Mn, SwizzleMode::Bytes128, 64));
    let stage = MmaWarpgroup::new(
        shared,
        tile(bf16, Along::K, SwizzleMode::Bytes128, 64),
        ElementKind::F32,
        64,
    )
    .expect("a stage");
    let unit = ProbeText::new(&stage, true).unit;
    assert!(compile(&cache, &unit, HOPPER).is_ok());
    for (change, from, to, names) in [
        ("no swizzle", "kSwizzleBits = 3", "kSwizzleBits = 0", "map"),
        ("a row of the other operand", "kPitch = 64", "kPitch = 72", "map"),
        ("another distance", "kDescriptor = 0x4000", "kDescriptor = 0x4001", "descriptor"),
    ] {
        let config = unit.config.replacen(from, to, 1);
        assert_ne!(config, unit.config, "{change}");
        let error = compile(&cache, &TranslationUnit { config, ..unit.clone() }, HOPPER).message();
        assert!(
            error.contains(&format!("the Rust {names} and the CUDA {names} differ")),
            "{change}: {error}"
        );
    }
}
