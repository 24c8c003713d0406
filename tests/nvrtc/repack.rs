//! The repack kernel under NVRTC: it compiles for every architecture without a spill, and its maps
//! equal their twins.

use crate::harness::prelude::*;

#[test]
#[ignore = "needs NVRTC"]
fn the_kernel_compiles_clean_on_every_architecture() {
    for sm in [75, 80, 86, 89, 90] {
        let unit = REPACK.translation_unit(true);
        // The cache is off, so no kernel of an earlier run is reused.
        let entry = compile(&Cache::new(CacheDir::Off), &unit, sm)
            .unwrap_or_else(|error| panic!("sm_{sm}: {error}"));
        let report = Report::read(&entry.log)
            .unwrap_or_else(|| panic!("sm_{sm}: no report in\n{}", entry.log));
        assert!(report.is_clean(), "sm_{sm}: {report:?}");
        // Four CTAs per SM.
        assert!(report.registers <= 65_536 / (REPACK.threads * 4), "sm_{sm}: {report:?}");
        println!("sm_{sm}: {} registers", report.registers);
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn a_changed_fingerprint_names_its_map() {
    let unit = REPACK.translation_unit(true);
    for (twin, name) in
        [("pass::Realignment", "realignment"), ("pass::RepackMap<Config, 3, 11>", "repack")]
    {
        a_wrong_fingerprint_is_named(&unit, (twin, name));
    }
}
