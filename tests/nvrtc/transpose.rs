//! Transposes under NVRTC: many descriptions compile for every architecture without a spill, and
//! the maps equal their twins.

use crate::harness::{prelude::*, transposes::named};
use falchion::internals::operand::transpose::translation_unit;

/// Compiles a description with the fingerprints of its maps, and returns the report of the
/// assembler.
fn compiled(desc: &TransposeDesc, sm: u32) -> Report {
    let unit = translation_unit(desc, true);
    // The cache is off, so no kernel of an earlier run is reused.
    let entry = compile(&Cache::new(CacheDir::Off), &unit, sm)
        .unwrap_or_else(|error| panic!("{desc} on sm_{sm}: {error}"));
    Report::read(&entry.log)
        .unwrap_or_else(|| panic!("{desc} on sm_{sm}: no report in\n{}", entry.log))
}

fn check(descs: &[TransposeDesc], sm: u32) {
    let mut most = 0;
    for desc in descs {
        let report = compiled(desc, sm);
        assert!(report.is_clean(), "{desc} on sm_{sm}: {report:?}");
        // The resolver relies on this bound when it selects the number of CTAs per SM.
        assert!(
            report.registers <= 65_536 / (desc.threads * desc.blocks_per_sm),
            "{desc} on sm_{sm}: {report:?}"
        );
        println!(
            "{desc} {:?} {}: {} registers, estimated {}",
            desc.combine,
            desc.element_bytes,
            report.registers,
            desc.registers()
        );
        most = most.max(report.registers);
    }
    println!("{} kernels for sm_{sm} are clean; at most {most} registers", descs.len());
}

#[test]
#[ignore = "needs NVRTC"]
fn resolved_transposes_compile_clean_on_every_architecture() {
    for sm in [75, 80, 86, 89, 90] {
        let machine =
            ArchKind::ALL.into_iter().find(|arch| arch.sm() == sm).expect("a tag").machine();
        let descs: Vec<_> =
            named().into_iter().filter(|desc| desc.check_on(&machine).is_ok()).collect();
        assert!(descs.len() >= 20, "{} descriptions", descs.len());
        check(&sample(descs), sm);
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn random_transposes_compile_clean_with_equal_maps() {
    check(&random_descriptions(120, 7), 90);
}

#[test]
#[ignore = "needs NVRTC"]
fn a_map_that_differs_from_rust_does_not_compile() {
    let desc = named()[0];
    let unit = translation_unit(&desc, true);
    let at =
        unit.source.find("maps::fetch>() == ").expect("a fingerprint") + "maps::fetch>() == ".len();
    let mut wrong = unit.clone();
    let digit = if unit.source.as_bytes()[at] == b'1' { "2" } else { "1" };
    wrong.source.replace_range(at..=at, digit);
    let error = compile(&Cache::new(CacheDir::Off), &wrong, 90)
        .expect_err("the fingerprint is wrong")
        .to_string();
    assert!(error.contains("fetch: the Rust map and the CUDA map differ"), "{error}");
}
