//! Kernels that start before the preceding grids end: each waits for those grids before it accesses
//! global memory.

use crate::{
    harness::{prelude::*, transposes},
    sass::Sass,
};

/// SASS mnemonic of `griddepcontrol.wait`.
const WAIT: &str = "ACQBULK";

/// Returns whether an instruction accesses global memory or ends the thread. A grid that ended
/// without waiting would let the next grid start before the preceding grids have ended.
fn is_visible(name: &str) -> bool {
    let global = ["LDG", "STG", "ATOM", "RED.", "UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "EXIT"];
    let generic = ["LD.", "ST."];
    global.iter().chain(&generic).any(|one| name.starts_with(one))
}

/// Returns the first fault of a unit's functions: an access before the wait, a missing wait, or a
/// wait on a machine without the instruction.
fn fault(unit: &TranslationUnit, sm: u32) -> Option<String> {
    let entry =
        compile(&Cache::new(CacheDir::Off), unit, sm).unwrap_or_else(|error| panic!("{error}"));
    let functions = Sass::functions(&entry.image);
    assert_eq!(functions.len(), 1 + usize::from(unit.second.is_some()), "{}", unit.entry);
    functions.iter().find_map(|(name, code)| {
        let first = code.names().find(|name| *name == WAIT || is_visible(name));
        let waits = if sm < 90 { code.count(|name| name == WAIT) > 0 } else { first == Some(WAIT) };
        (waits != (sm >= 90)).then(|| format!("{name} on sm_{sm}: {first:?} is first"))
    })
}

/// Returns kernels of random descriptions of every kind, with split-K, batches, and groups.
fn gemms() -> Vec<TranslationUnit> {
    let kernel_kinds =
        [KernelKind::Simt, KernelKind::MmaSync, KernelKind::WgmmaRing, KernelKind::SimtRing];
    let drawn = kernel_kinds.into_iter().flat_map(|kernel_kind| {
        (0..6).map(move |seed| {
            description(seed, Wanted { kernel_kind, plain: true, ..Wanted::default() })
        })
    });
    let changed = drawn.enumerate().flat_map(|(i, d)| {
        let cut = but!(d, split_k: 3, decomposition: [DecompositionKind::SplitK, DecompositionKind::SplitKParallel][i % 2]);
        let whole = but!(d, split_k: 1);
        [d, cut, whole.for_batch(7), whole.for_groups([Axis::M, Axis::N][i % 2])]
    });
    let units: Vec<_> = changed.filter(|d| d.check().is_ok()).map(|d| unit_of(&d, false)).collect();
    for needed in [
        "warp::MmaSimt<Config>>",
        "warp::MmaTensorOp<Config>>",
        "threadblock::WgmmaConsumer>",
        "threadblock::SimtConsumer>",
        "reduce(",
    ] {
        assert!(
            units.iter().filter(|unit| unit.source.contains(needed)).count() >= 3,
            "fewer than 3 with {needed}"
        );
    }
    units
}

/// Returns the kernels of passes.
fn passes() -> Vec<TranslationUnit> {
    let mut all = vec![PassDesc::Repack(REPACK), PassDesc::Records(RecordsDesc::FEW)];
    all.extend(
        EmulationKind::MODES.map(|emulation| PassDesc::Decompose(DecomposeDesc { emulation })),
    );
    all.push(PassDesc::Records(RecordsDesc::MANY));
    all.extend(transposes::named().into_iter().take(12).map(PassDesc::Transpose));
    all.iter().map(|pass| pass.unit(false)).collect()
}

#[test]
#[ignore = "needs NVRTC and nvdisasm"]
fn kernels_wait_before_global_accesses() {
    let (gemms, passes) = (gemms(), passes());
    let simt = gemms
        .iter()
        .find(|unit| unit.source.contains("warp::MmaSimt<Config>>"))
        .expect("the kernel supports older targets")
        .clone();
    let older = [&simt, &passes[0]].map(|unit| fault(unit, 80));
    assert_eq!(older, [None, None]);
    let units = sample(gemms.into_iter().chain(passes).collect());
    assert!(units.iter().all(|unit| unit.waits));
    let faults: Vec<_> = units.par_iter().filter_map(|unit| fault(unit, 90)).collect();
    assert!(faults.is_empty(), "{} of {}: {}", faults.len(), units.len(), faults.join("\n"));
    println!("{} kernels wait", units.len());
}

/// A kernel that does not wait is found, and so is a kernel that ends before the wait.
#[test]
#[ignore = "needs NVRTC and nvdisasm"]
fn a_kernel_that_does_not_wait_is_found() {
    const WAITS: &str = "schedule::wait_for_grids();";
    let unit = REPACK.translation_unit(false);
    assert_eq!((fault(&unit, 90), unit.source.matches(WAITS).count()), (None, 1));
    for instead in ["", "if (params.blocks == 1) return;\n  schedule::wait_for_grids();"] {
        let changed =
            TranslationUnit { source: unit.source.replace(WAITS, instead), ..unit.clone() };
        assert!(fault(&changed, 90).is_some(), "{instead}");
    }
}
