//! NVRTC compiles every kernel that a request can select. No kernel needs more registers than
//! `check` computes, and all maps equal their Rust twins. These tests need NVRTC and no GPU.
//!
//! `FALCHION_NVRTC=<folder> cargo test --test nvrtc kernels --features serde -- --ignored
//! --nocapture --test-threads 1`

mod arrays;
mod batches;
mod blackwell;
mod columns;
mod gates;
mod groups_k;
mod halves;
mod indexed;
mod mma_sync;
mod mma_sync_ring;
mod nodes;
mod registers;
mod simt_ring;
mod streams;
mod swizzles;
mod transforms;
mod vectors;
mod wgmma_ring;

use crate::harness::{
    descriptions::{self, largest_shape_that_fits},
    prelude::*,
    random_cases::{self, orders},
};
use std::ops::Range;

/// Machines that have a tag and that NVRTC 13 compiles for.
const MACHINES: [ArchKind; 5] =
    [ArchKind::Sm75, ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89, ArchKind::Sm90];

const F32: Combined = element_types(ElementKind::F32, ElementKind::F32, ElementKind::F32);

/// Returns a cache in memory only, so no kernel of an earlier run is reused.
pub(super) fn cache() -> Cache {
    Cache::new(CacheDir::Off)
}

fn default(arch: ArchKind, types: Combined, orders: [Order; 3]) -> GemmDesc {
    default_of(OpKind::Simt, arch, types, orders)
}

fn default_f32(arch: ArchKind) -> GemmDesc {
    default(arch, F32, [Order::Col; 3])
}

/// Returns the description in the form of a bug report.
fn text(d: &GemmDesc) -> String {
    if let Ok(json) = d.to_json() {
        return json;
    }
    format!("{d:?}")
}

/// Returns the first fault of a description's kernel on the machines of `arch`, with fingerprints.
fn fault(cache: &Cache, d: &GemmDesc, arch: ArchKind) -> Option<String> {
    let machine = arch.machine();
    if let Err(refusal) = d.check_on(&machine) {
        return Some(refusal.to_string());
    }
    let entry = match compile(cache, &unit_of(d, true), machine.sm) {
        Ok(entry) => entry,
        Err(error) => return Some(error.to_string()),
    };
    let Some(report) = Report::read(&entry.log) else {
        return Some(format!("no kernel in: {}", entry.log));
    };
    let (wanted, available) = match d.explain().expect("it checks") {
        Explanation::Simt(facts) => {
            (facts.registers, d.registers_available(machine.registers_per_sm))
        }
        Explanation::MmaSync(facts) => (facts.registers, facts.registers_available),
        Explanation::TmaRing(_) => {
            let components = d.components().expect("it checks");
            // A thread has at most 255 registers.
            let share = machine.registers_per_sm / components.ring.threads() / 8 * 8;
            (components.instruction_registers(), share.min(255))
        }
    };
    if !report.is_clean()
        || report.registers == 0
        || report.registers > available
        || entry.log.contains("warning")
    {
        return Some(format!(
            "{available} registers available, {wanted} wanted: {report:?}\n{}",
            entry.log
        ));
    }
    None
}

/// Compiles kernels on all cores, and panics with the faults.
pub(super) fn assert_clean<K: Send + Sync>(
    what: &str,
    kernels: Vec<K>,
    fault: impl Fn(&Cache, &K) -> Option<String> + Sync,
) {
    let (kernels, cache, start) = (sample(kernels), cache(), Instant::now());
    let faults: Vec<_> = kernels.par_iter().filter_map(|kernel| fault(&cache, kernel)).collect();
    let (all, texts, time) = (kernels.len(), cache.compilations(), start.elapsed().as_secs_f64());
    println!("{what}: {all} kernels, {texts} texts, {time:.1} s");
    let (wrong, faults) = (faults.len(), faults.join("\n\n"));
    assert_eq!(wrong, 0, "{wrong} of {all} are not clean:\n\n{faults}");
}

fn all_clean(what: &str, kernels: Vec<Kernel>) {
    assert_clean(what, kernels, |cache, (name, d, arch)| {
        fault(cache, d, *arch).map(|fault| format!("{name}: {}\n{fault}", text(d)))
    });
}

/// Returns all default configurations in every layout of A, B, and C.
fn defaults(arch: ArchKind, machine: ArchKind) -> Vec<Kernel> {
    let of = |orders| {
        COMBINATIONS.iter().map(move |types| {
            (format!("{arch} on {machine}"), default(arch, *types, orders), machine)
        })
    };
    orders().flat_map(of).collect()
}

/// Returns random descriptions for `arch` that may not spill.
fn random_descriptions(
    seed: u64,
    count: u64,
    arch: ArchKind,
    draw: impl Fn(u64, Wanted) -> GemmDesc,
) -> impl Iterator<Item = Kernel> {
    let wanted = Wanted { arch: Some(arch), plain: true, ..Wanted::default() };
    (seed..seed + count).map(move |seed| (format!("seed {seed}"), draw(seed, wanted), arch))
}

#[test]
#[ignore = "needs NVRTC"]
fn every_default_configuration_compiles_clean() {
    let mut kernels: Vec<_> = MACHINES.into_iter().flat_map(|arch| defaults(arch, arch)).collect();
    // Kernels of the oldest tag run on newer machines: on Turing as Turing's kernels, and on Hopper
    // unchanged.
    kernels.extend(defaults(ArchKind::Sm70, ArchKind::Sm75));
    kernels.extend(
        defaults(ArchKind::Sm70, ArchKind::Sm90).into_iter().filter(|(_, d, _)| d.types() == F32),
    );
    all_clean("defaults", kernels);
}

#[test]
#[ignore = "needs NVRTC"]
fn volta_is_refused_by_nvrtc_13() {
    let unit = unit_of(&default_f32(ArchKind::Sm70), true);
    let error = compile(&cache(), &unit, 70).expect_err("too old for NVRTC 13");
    assert!(matches!(error, Error::Architecture { .. }), "{error:?}");
    let sentence = error.to_string();
    let ending = "does not compile for sm_70: the oldest target is sm_75; use NVRTC 12";
    assert!(sentence.starts_with("NVRTC 13.") && sentence.ends_with(ending), "{sentence}");
}

#[test]
#[ignore = "needs NVRTC"]
fn legal_descriptions_compile_clean() {
    let mut kernels: Vec<_> =
        random_descriptions(1_000, 130, ArchKind::Sm90, description).collect();
    kernels.extend(random_descriptions(2_000, 10, ArchKind::Sm80, description));
    kernels.extend(random_descriptions(3_000, 10, ArchKind::Sm75, description));
    all_clean("legal descriptions", kernels);
}

/// Descriptions that use all registers that `check` allows. Constants such as `MmaBase::OVERHEAD`
/// must be large enough for this test to pass.
#[test]
#[ignore = "needs NVRTC"]
fn descriptions_that_just_fit_compile_clean() {
    let just_fits = |seed, wanted| largest_shape_that_fits(seed, wanted, 9);
    let mut kernels: Vec<_> = random_descriptions(4_000, 50, ArchKind::Sm90, just_fits).collect();
    kernels.extend(random_descriptions(5_000, 5, ArchKind::Sm80, just_fits));
    kernels.extend(random_descriptions(6_000, 5, ArchKind::Sm75, just_fits));
    all_clean("descriptions that just fit", kernels);
}

/// Warp-specialized kernels: every default, random valid descriptions, and descriptions that use
/// all registers of a consumer. `OVERHEAD` of `src/threadblock/tma_ring/registers.rs` must be large
/// enough for this test to pass.
#[test]
#[ignore = "needs NVRTC"]
fn warp_specialized_kernels_compile_clean() {
    let of = |orders| {
        let default =
            move |types| default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders);
        descriptions::ring_types().into_iter().filter_map(move |types| default(types).ok())
    };
    let checked = orders().flat_map(of).filter(|d| d.check().is_ok());
    let defaults: Vec<_> = checked.map(|d| ("a default".to_owned(), d, ArchKind::Sm90)).collect();
    assert!(defaults.len() >= 60, "{} defaults", defaults.len());
    all_clean("warp-specialized defaults", defaults);
    let mut kernels: Vec<_> =
        (7_000..7_040).map(|seed| warp_specialized_only(seed, true, description)).collect();
    // Other epilogues may need more registers, and may spill.
    kernels.extend((8_000..8_030).map(|seed| warp_specialized_only(seed, false, description)));
    kernels.retain(|(_, d, _)| d.pins().spills == Some(SpillKind::Refused));
    all_clean("warp-specialized descriptions", kernels);
    let just_fits = |seed, wanted| largest_shape_that_fits(seed, wanted, 17);
    let fits: Vec<_> =
        (9_000..9_016).map(|seed| warp_specialized_only(seed, true, just_fits)).collect();
    all_clean("warp-specialized descriptions that just fit", fits);
}

/// fp8 sums that are promoted after each stage: no kernel spills or serializes `wgmma` (C7510),
/// although partial accumulators are read between products. Covers both schedules, and an N of one
/// instruction.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_that_promote_compile_clean() {
    let orders = [Order::Row, Order::Col, Order::Row];
    let fp8 = descriptions::ring_types().into_iter().filter(|types| types.a.is_fp8());
    let promoted = |types| random_cases::promoted(types, orders);
    let kernels: Vec<_> = fp8
        .map(promoted)
        .flat_map(|d| {
            let tile = |m, n, k| Mnk { m, n, k };
            let pingpong = but!(d, threadblock: tile(128, 128, 128), schedule: ScheduleKind::Pingpong);
            let narrow = but!(d, instruction: tile(64, 64, 32));
            let one = but!(d, threadblock: tile(64, 128, 128), warp: tile(64, 128, 128));
            let wide = but!(d, threadblock: tile(128, 192, 128), warp: tile(64, 192, 128), instruction: tile(64, 192, 32));
            [("cooperative", d), ("wide", wide), ("ping-pong", pingpong), ("narrow", narrow), ("one instruction tile", one)]
        })
        .map(|(name, d)| (name.to_owned(), d, ArchKind::Sm90))
        .collect();
    assert!(kernels.len() >= 45, "{} kernels", kernels.len());
    all_clean("kernels that promote", kernels);
}

/// Name, description, and machine of a kernel.
type Kernel = (String, GemmDesc, ArchKind);

/// Returns the default of each type combination of warp-specialized kernels, each in other layouts.
fn rotated_defaults(shift: usize) -> impl Iterator<Item = Kernel> {
    let types = descriptions::ring_types().into_iter().enumerate();
    types.filter_map(move |(i, types)| {
        let orders =
            [1, 2, 4].map(|bit| if (i + shift) & bit != 0 { Order::Col } else { Order::Row });
        let default = default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders).ok()?;
        Some(("a default".to_owned(), default, ArchKind::Sm90))
    })
}

/// Returns warp-specialized kernels of some seeds whose D TMA stores.
fn stored_by_tma(seeds: Range<u64>) -> impl Iterator<Item = Kernel> {
    seeds.map(|seed| warp_specialized_only(seed, true, description))
}

/// Returns warp-specialized kernels of some seeds whose threads store D.
fn stored_by_threads(seeds: Range<u64>) -> impl Iterator<Item = Kernel> {
    seeds.map(|seed| {
        let (name, d, arch) = warp_specialized_only(seed, true, description);
        (name, but!(d, align_c: [1, 2][seed as usize % 2]), arch)
    })
}

/// Returns `count` random kernels of each kind that the other functions here seldom draw. Two MMAs
/// occur in the list, because a tree without one of them must build, too.
fn rare_kinds(seed: u64, count: u64) -> impl Iterator<Item = Kernel> {
    let kinds = [KernelKind::SimtRing, KernelKind::MmaSync, KernelKind::MmaSyncRing];
    kinds.into_iter().flat_map(move |kernel_kind| {
        let draw = move |seed, wanted| description(seed, Wanted { kernel_kind, ..wanted });
        random_descriptions(seed, count, ArchKind::Sm90, draw)
    })
}

/// Returns TMA-fed SIMT kernels of some seeds.
fn by_threads(seeds: Range<u64>) -> impl Iterator<Item = Kernel> {
    let wanted = Wanted { plain: true, kernel_kind: KernelKind::SimtRing, ..Wanted::default() };
    seeds.map(move |seed| (format!("seed {seed}"), description(seed, wanted), ArchKind::Sm90))
}

/// Returns a random description whose D TMA stores.
fn warp_specialized_only(seed: u64, plain: bool, draw: impl Fn(u64, Wanted) -> GemmDesc) -> Kernel {
    let d = draw(seed, Wanted { plain, kernel_kind: KernelKind::WgmmaRing, ..Wanted::default() });
    (format!("seed {seed}"), but!(d, align_c: d.output.element.elements_in(16)), ArchKind::Sm90)
}

/// Threads read C and store D if these are not aligned for TMA.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_whose_threads_store_compile_clean() {
    let kernels: Vec<_> = (10_000..10_024)
        .map(|seed| {
            let (name, d, arch) = warp_specialized_only(seed, true, description);
            let align_c = [1, 2, d.alignments()[2] / 2][seed as usize % 3];
            (name, but!(d, align_c), arch)
        })
        .collect();
    all_clean("descriptions whose threads store", kernels);
}

fn log_of(unit: &TranslationUnit) -> (String, Option<String>) {
    match compile(&cache(), unit, 90) {
        Err(Error::Compile { log, node, .. }) => (log, node),
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn a_wrong_fingerprint_names_its_map() {
    // Sliced K has a map of partial accumulators.
    let d = default_f32(ArchKind::Sm90);
    let d = but!(d, threadblock: Mnk { n: 64, k: 16, ..d.threadblock() });
    assert_eq!(d.check(), Ok(()));
    let unit = unit_of(&d, true);
    let asserted: Vec<_> =
        unit.source.lines().filter(|line| line.contains("index::fingerprint<")).collect();
    for name in [
        "copy_a",
        "copy_b",
        "smem_a",
        "smem_b",
        "fragment_a",
        "fragment_b",
        "depth",
        "partials",
        "order",
    ] {
        let lines: Vec<_> =
            asserted.iter().filter(|line| line.contains(&format!("\"{name}: "))).collect();
        assert!(!lines.is_empty(), "no fingerprint of {name}");
        for line in lines {
            let (before, after) = line.split_once(" == ").expect("a comparison");
            let (number, rest) = after.split_once("u, ").expect("a number");
            let wrong = number.parse::<u32>().expect("a number") ^ 1;
            let source = unit.source.replace(*line, &format!("{before} == {wrong}u, {rest}"));
            let (log, node) = log_of(&TranslationUnit { source, ..unit.clone() });
            assert!(
                log.contains(&format!("{name}: the Rust map and the CUDA map differ")),
                "{log}"
            );
            assert_eq!(log.matches("static assertion failed").count(), 1, "{log}");
            assert_eq!(node, None);
        }
    }
}

/// Doubles or halves a number of the configuration, and checks that the compiler names the map that
/// differs.
fn a_wrong_fact_is_named(unit: &TranslationUnit, fact: &str, name: &str) {
    let (key, value) = fact.split_once(" = ").expect("a fact");
    let other = value.parse::<u32>().expect("a number") / 2;
    assert!(unit.config.contains(fact), "{}", unit.config);
    let config = unit.config.replacen(fact, &format!("{key} = {other}"), 1);
    let (log, _) = log_of(&TranslationUnit { config, ..unit.clone() });
    assert!(log.contains(&format!("{name}: the Rust map and the CUDA map differ")), "{log}");
}

#[test]
#[ignore = "needs NVRTC"]
fn a_wrong_simt_map_is_named() {
    let unit = unit_of(&default(ArchKind::Sm90, F32, [Order::Col, Order::Row, Order::Row]), true);
    // The first entry of each is for A.
    for (fact, name) in [
        ("kPitch = 256", "smem_a"),
        ("kInterleave = 4", "fragment_a"),
        ("kLanesContiguous = 32", "copy_a"),
    ] {
        a_wrong_fact_is_named(&unit, fact, name);
    }
}
