//! Emulated `f32` on tensor cores under NVRTC: the passes that decompose operands, and the kernels
//! that multiply the terms. No kernel spills or serializes `wgmma` (C7510), and the maps and the
//! arithmetic agree with their CUDA twins.

use crate::harness::{on_tensor_cores::desc, prelude::*};

/// Compiles a unit without a cache, so no kernel of an earlier run is reused.
fn compiled(name: &str, unit: &TranslationUnit) -> Report {
    let entry = compile(&Cache::new(CacheDir::Off), unit, 90)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    Report::read(&entry.log).unwrap_or_else(|| panic!("{name}: no report in\n{}", entry.log))
}

#[test]
#[ignore = "needs NVRTC"]
fn the_passes_compile_clean() {
    for emulation in EmulationKind::MODES {
        let desc = DecomposeDesc { emulation };
        let report = compiled(emulation.name(), &desc.translation_unit(true));
        assert!(report.is_clean(), "{emulation:?}: {report:?}");
        assert!(
            report.registers <= 65_536 / (desc.pieces(true).threads * 4),
            "{emulation:?}: {report:?}"
        );
        println!("{}: {} registers", emulation.name(), report.registers);
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn the_gemms_compile_clean() {
    const THREADS_STORE: &str = "threads store";
    let tile = |m, n| Mnk { m, n, k: 64 };
    let mut kernels = Vec::new();
    for emulation in EmulationKind::MODES {
        let default = desc(emulation, ORDERS[0]);
        let pingpong = but!(default, threadblock: tile(128, 128), schedule: ScheduleKind::Pingpong);
        let shared = but!(default, cluster: Mn { m: 2, n: 1 });
        let column = desc(emulation, ORDERS[4]);
        for (name, d) in [
            ("default", default),
            ("ping-pong", pingpong),
            ("cluster", shared),
            ("column-major D", column),
            // Threads store a D that is not aligned.
            (THREADS_STORE, but!(default, align_c: 1)),
        ] {
            kernels.push((emulation, name, d));
        }
        assert_eq!(PassDesc::before(&default), [PassDesc::Decompose(DecomposeDesc { emulation })]);
    }
    for (emulation, name, d) in sample(kernels) {
        let report = compiled(name, &unit_of(&d, true));
        let clean =
            if name == THREADS_STORE { report.warnings.is_empty() } else { report.is_clean() };
        assert!(clean, "{emulation:?} {name}: {report:?}");
        println!("{} {name}: {} registers", emulation.name(), report.registers);
    }
}

/// If a digit of a fingerprint changes, the compiler names the map that differs, for all maps and
/// for the arithmetic of terms.
#[test]
#[ignore = "needs NVRTC"]
fn a_changed_fingerprint_names_its_map() {
    for emulation in EmulationKind::MODES {
        let unit = DecomposeDesc { emulation }.translation_unit(true);
        for (twin, name) in [
            ("numeric::TermsMap<EmulationFacts>", "terms"),
            ("numeric::EmulationBlocks<EmulationFacts, 7>", "blocks"),
            ("pass::PieceMap<Config, true>", "pieces"),
        ] {
            a_wrong_fingerprint_is_named(&unit, (twin, name));
        }
    }
}
