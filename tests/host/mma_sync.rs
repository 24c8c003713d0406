//! Kernels whose warps multiply by `mma.sync`, on the host: they conform, both modes give the same
//! bits, and mutants are caught.

use crate::harness::{
    asked_for,
    case::judge_one,
    conformance::{Cases, conforms, distinct, mma_sync},
    descriptions::{self, mma_sync::ARCHS},
    integers::{ragged, wrong},
    mutated::without,
    prelude::*,
    problems,
};
use falchion::internals::index::Map;

const CHECKED: Mode = Mode::Checked { seed: 7 };
const ORDERS: [[Order; 3]; 4] = [
    [Order::Row, Order::Col, Order::Row],
    [Order::Row, Order::Row, Order::Row],
    [Order::Col, Order::Col, Order::Col],
    [Order::Col, Order::Row, Order::Row],
];

/// The defaults of every architecture, and of every type there; D in turn by rows and by columns.
fn defaults() -> Vec<GemmDesc> {
    let mut found = Vec::new();
    for arch in ARCHS {
        for (i, &types) in TENSOR_OP_COMBINATIONS.iter().enumerate() {
            // The first that is a kernel: bytes along MN leave no registers for the largest tile.
            let families =
                default_gemm_configurations(OpKind::TensorOp, arch, types).unwrap_or_default();
            let families =
                families.iter().filter(|family| matches!(family, FamilyDesc::MmaSync(_)));
            let mut all = families.map(|&family| {
                GemmDesc::of_values(OpKind::TensorOp, arch, types, ORDERS[i % 4], family)
            });
            found.extend(all.find(|desc| desc.check().is_ok()));
        }
    }
    found
}

/// The default of types on an architecture by this family.
fn of_family(types: Combined, arch: ArchKind) -> Option<FamilyDesc> {
    let first =
        default_gemm_configurations(OpKind::TensorOp, arch, types).ok()?.first().copied()?;
    matches!(first, FamilyDesc::MmaSync(_)).then_some(first)
}

fn of(ab: ElementKind, accumulator: ElementKind, c: ElementKind) -> Combined {
    Combined { a: ab, b: ab, accumulator, c }
}

#[test]
fn the_fast_host_conforms_for_mma_sync() {
    let cases =
        Cases { descriptions: 160, problems_each: 6, most_work: 6_000_000, wanted: mma_sync(None) };
    let (tally, descriptions) = conforms(&OnHost(Mode::Fast), cases, 0x0fa1_c4b0);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    if asked_for().is_none() {
        assert!(tally.cases >= 900 && distinct(&descriptions) >= 140);
        let inputs: BTreeSet<_> = descriptions
            .iter()
            .map(|d| (d.class.a.element.name(), d.pins().instruction.map(|i| (i.m, i.k))))
            .collect();
        assert!(inputs.len() >= 14, "{inputs:?}");
        let options: BTreeSet<_> = descriptions
            .iter()
            .map(|d| {
                (
                    d.pins().emulation.map_or("", EmulationKind::name),
                    d.pins().saturate == Some(SaturateKind::On),
                )
            })
            .collect();
        assert_eq!(
            Vec::from_iter(options),
            [("bf16x1", false), ("none", false), ("none", true), ("tf32x3", false)]
        );
        assert!(tally.exact > tally.elements / 2 && tally.exact < tally.elements - tally.undecided);
        assert!(
            tally.largest > 0.02 && tally.largest <= 1.0,
            "the largest error is {} of its bound",
            tally.largest
        );
    }
}

#[test]
fn the_checked_host_conforms_for_mma_sync() {
    let wanted = descriptions::Wanted { largest_tile: 64 * 64 * 64, ..mma_sync(None) };
    let cases = Cases { descriptions: 60, problems_each: 2, most_work: 200_000, wanted };
    let (tally, descriptions) = conforms(&OnHost(CHECKED), cases, 0x0fa1_c4b1);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    assert!(asked_for().is_some() || tally.cases >= 120 && tally.largest <= 1.0, "{tally:?}");
}

#[test]
fn the_defaults_of_every_architecture_compute() {
    let defaults = defaults();
    for (arch, least) in [
        (ArchKind::Sm75, 6),
        (ArchKind::Sm80, 11),
        (ArchKind::Sm86, 11),
        (ArchKind::Sm89, 23),
        (ArchKind::Sm90, 1),
    ] {
        let count = defaults.iter().filter(|desc| desc.class.arch == arch).count();
        assert!(count >= least, "{count} defaults on {arch}");
    }
    for (i, desc) in defaults.iter().enumerate() {
        assert_eq!(desc.check(), Ok(()), "{desc:?}");
        let wanted = problems::Wanted { most_work: 300_000, aligned: true };
        let (runner, seeds) =
            (OnHost(if i % 3 == 0 { CHECKED } else { Mode::Fast }), (i as u64, 1));
        for fill in [Fill::Integers, Fill::Random] {
            judge_one(&runner, desc, &guarded(1, desc, wanted), fill, seeds)
                .unwrap_or_else(|wrong| panic!("{wrong}"));
        }
    }
}

/// Tensor cores of f64 are what `tensorop` of f64 means, from Ampere on; those of f32 and the CUDA
/// cores' f64 stay what they were.
#[test]
fn f64_has_tensor_cores() {
    let types = of(ElementKind::F64, ElementKind::F64, ElementKind::F64);
    for arch in [ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89, ArchKind::Sm90] {
        assert!(of_family(types, arch).is_some(), "{arch}");
    }
    let refusal = default_gemm_configurations(OpKind::TensorOp, ArchKind::Sm75, types)
        .expect_err("Turing has none");
    assert_eq!(
        refusal.to_string(),
        "no kernel multiplies f64 by f64 accumulating in f64 into f64 on tensor cores (sm75); try arch = sm80"
    );
    let simt = default_gemm_configurations(OpKind::Simt, ArchKind::Sm90, types).expect("a row")[0];
    assert!(matches!(simt, FamilyDesc::Simt(_)), "{simt:?}");
    let halves = default_gemm_configurations(
        OpKind::TensorOp,
        ArchKind::Sm90,
        of(ElementKind::F16, ElementKind::F32, ElementKind::F16),
    );
    assert!(matches!(halves.expect("a row")[0], FamilyDesc::WarpSpecialized(_)));
}

/// A program of f64, one of halves by ldmatrix, and one of bytes element by element, in slices of
/// K.
fn subjects() -> Vec<(&'static str, Program)> {
    let make = |types, arch, orders, threadblock: Mnk, warp: Mnk, mainloop, stages| {
        let family = match arch {
            ArchKind::Sm90 => {
                of_family(of(ElementKind::F64, ElementKind::F64, ElementKind::F64), arch)
            }
            _ => of_family(types, arch),
        };
        let desc =
            GemmDesc::of_values(OpKind::TensorOp, arch, types, orders, family.expect("a row"));
        let pins = Pins {
            threadblock: Some(threadblock),
            warp: Some(warp),
            mainloop: Some(mainloop),
            stages: Some(stages),
            ..Pins::NONE
        };
        let desc = desc.pinned(pins);
        assert_eq!(desc.check(), Ok(()), "{desc:?}");
        desc.one_schedule().expect("one schedule")
    };
    let (f64s, halves) =
        (ElementKind::F64, of(ElementKind::F16, ElementKind::F32, ElementKind::F16));
    let small = Mnk::new(32, 32, 16);
    let bytes = of(ElementKind::I8, ElementKind::I32, ElementKind::I32);
    vec![
        (
            "f64",
            make(
                of(f64s, f64s, f64s),
                ArchKind::Sm90,
                ORDERS[1],
                small,
                Mnk::new(16, 16, 16),
                MainloopKind::Multistage,
                3,
            ),
        ),
        (
            "halves",
            make(
                halves,
                ArchKind::Sm80,
                ORDERS[0],
                Mnk::new(32, 32, 64),
                Mnk::new(32, 16, 32),
                MainloopKind::Multistage,
                2,
            ),
        ),
        (
            "turned halves",
            make(
                halves,
                ArchKind::Sm80,
                ORDERS[3],
                Mnk::new(64, 64, 32),
                Mnk::new(32, 32, 32),
                MainloopKind::Multistage,
                4,
            ),
        ),
        (
            "halves one deep",
            make(
                halves,
                ArchKind::Sm80,
                ORDERS[1],
                Mnk::new(32, 32, 16),
                Mnk::new(16, 16, 16),
                MainloopKind::Multistage,
                3,
            ),
        ),
        (
            "halves one deep, through registers",
            make(
                halves,
                ArchKind::Sm80,
                ORDERS[3],
                Mnk::new(32, 32, 32),
                Mnk::new(32, 16, 16),
                MainloopKind::Pipelined,
                2,
            ),
        ),
        (
            "bytes",
            make(
                bytes,
                ArchKind::Sm80,
                ORDERS[3],
                Mnk::new(32, 32, 64),
                Mnk::new(16, 32, 64),
                MainloopKind::Pipelined,
                2,
            ),
        ),
    ]
}

fn caught(program: &Program) -> Option<String> {
    wrong(program, CHECKED, ragged(&program.desc))
}

#[test]
fn every_step_of_a_schedule_is_needed() {
    for (name, program) in subjects() {
        assert_eq!(caught(&program), None, "{name} is accused without a change");
        for (section, index, step) in program.schedule.places() {
            let mutant =
                Program { schedule: without(&program.schedule, section, index), ..program.clone() };
            assert!(
                caught(&mutant).is_some(),
                "{name}: {section:?} without {step}, number {index}, survives"
            );
        }
    }
}

/// Where a tile is one k-block deep there is one fragment of A: loaded before the products it would
/// be the next tile's.
#[test]
fn a_fragment_of_a_is_loaded_behind_the_products_of_a_tile_one_deep() {
    let mut deep = 0;
    for (name, program) in
        subjects().into_iter().filter(|(_, program)| program.base.k_blocks() == 1)
    {
        let mut mutant = program.clone();
        let at = mutant
            .schedule
            .body
            .iter()
            .position(|step| matches!(step, Step::LoadA { .. }))
            .expect("a fragment is loaded");
        assert!(
            matches!(mutant.schedule.body[at - 1], Step::MultiplyLoad { k_block: 0, next: 0 }),
            "{name}"
        );
        mutant.schedule.body.swap(at - 1, at);
        let fault = caught(&mutant).expect("found");
        assert!(fault.contains("fragment"), "{name}: {fault}");
        deep += 1;
    }
    assert_eq!(deep, 2);
}

/// A map with two of its points in each other's place.
fn exchanged(map: &Map, seed: u64) -> Map {
    let domain = map.domain();
    let count = u64::from(domain.row) * u64::from(domain.column);
    let point = |i: u64| {
        let at = draw(seed, i) % count;
        falchion::internals::index::at(
            (at / u64::from(domain.column)) as u32,
            (at % u64::from(domain.column)) as u32,
        )
    };
    let (first, second) = (
        point(0),
        (1..).map(point).find(|&other| map.at(other) != map.at(point(0))).expect("another place"),
    );
    let places = [map.at(first), map.at(second)];
    Arc::new(Tabled::by(domain, map.codomain(), |at| match at {
        at if at == first => places[1],
        at if at == second => places[0],
        at => map.at(at),
    }))
}

#[test]
fn every_map_is_needed() {
    for (name, program) in subjects() {
        for side in [0, 1] {
            for seed in 0..3 {
                let mut mutant = program.clone();
                match &program.maps.rows[side] {
                    Some(rows) => mutant.maps.rows[side] = Some(exchanged(rows, seed)),
                    None => {
                        mutant.maps.fragment[side] = exchanged(&program.maps.fragment[side], seed)
                    }
                }
                assert!(
                    caught(&mutant).is_some(),
                    "{name}: fragments of operand {side} with two points exchanged survive, seed {seed}"
                );
            }
        }
        let mutant = {
            let mut mutant = program.clone();
            mutant.maps.accumulator = exchanged(&program.maps.accumulator, 5);
            mutant
        };
        assert!(
            caught(&mutant).is_some(),
            "{name}: accumulators with two points exchanged survive"
        );
    }
}
