//! `mma.sync` kernels on the host: they conform, both modes give the same bits, and mutants are
//! found.

mod batches;
mod conformance;
mod cutlass_list;

use crate::harness::{
    integers::{ragged, wrong},
    prelude::*,
    problems,
};
use falchion_check::mutation::{Edit, drop_each};

const CHECKED: Mode = Mode::Checked { seed: 7 };
const ORDERS: [[Order; 3]; 4] = [
    [Order::Row, Order::Col, Order::Row],
    [Order::Row, Order::Row, Order::Row],
    [Order::Col, Order::Col, Order::Col],
    [Order::Col, Order::Row, Order::Row],
];

/// Returns the defaults of every architecture and of all its types, with a row-major and a
/// column-major D in turn.
fn defaults() -> Vec<GemmDesc> {
    let mut found = Vec::new();
    for arch in ARCHS {
        for (i, &types) in TENSOR_OP_COMBINATIONS.iter().enumerate() {
            // The first valid configuration: 8-bit types along MN leave no registers for the
            // largest tile.
            let configurations =
                default_gemm_configurations(OpKind::TensorOp, arch, types).unwrap_or_default();
            let configurations = configurations
                .iter()
                .filter(|default_knobs| default_knobs.mma.kind() == WarpMmaKind::MmaSync);
            let mut all = configurations.map(|&default_knobs| {
                GemmDesc::from_values(OpKind::TensorOp, arch, types, ORDERS[i % 4], default_knobs)
            });
            found.extend(all.find(|desc| desc.check().is_ok()));
        }
    }
    found
}

/// Returns the default `mma.sync` configuration for types on an architecture.
fn default_knobs(types: Combined, arch: ArchKind) -> Option<Knobs> {
    let first =
        default_gemm_configurations(OpKind::TensorOp, arch, types).ok()?.first().copied()?;
    (first.mma.kind() == WarpMmaKind::MmaSync).then_some(first)
}

#[test]
fn defaults_of_every_architecture_conform() {
    let defaults = defaults();
    for (arch, least) in [
        (ArchKind::Sm75, 6),
        (ArchKind::Sm80, 11),
        (ArchKind::Sm86, 11),
        (ArchKind::Sm89, 23),
        (ArchKind::Sm90, 1),
    ] {
        let count = defaults.iter().filter(|desc| desc.arch == arch).count();
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

/// For f64, `tensorop` selects tensor cores from Ampere on. f64 SIMT kernels are not affected.
#[test]
fn f64_tensorop_selects_tensor_cores() {
    let types = element_types(ElementKind::F64, ElementKind::F64, ElementKind::F64);
    for arch in [ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89, ArchKind::Sm90] {
        assert!(default_knobs(types, arch).is_some(), "{arch}");
    }
    let refusal = default_gemm_configurations(OpKind::TensorOp, ArchKind::Sm75, types)
        .expect_err("Turing has none");
    assert_eq!(
        refusal.to_string(),
        "no kernel multiplies f64 by f64 accumulating in f64 into f64 on tensor cores (sm75); try arch = sm80"
    );
    let simt = default_gemm_configurations(OpKind::Simt, ArchKind::Sm90, types).expect("a row")[0];
    assert!(simt.mma.op() == OpKind::Simt, "{simt:?}");
}

/// Returns programs of f64, of f16 by ldmatrix, and of bytes one by one, with sliced K.
fn subjects() -> Vec<(String, Program)> {
    let f64s = element_types(ElementKind::F64, ElementKind::F64, ElementKind::F64);
    let halves = element_types(ElementKind::F16, ElementKind::F32, ElementKind::F16);
    let bytes = element_types(ElementKind::I8, ElementKind::I32, ElementKind::I32);
    let make = |(name, types, arch, orders, tile, warp, mainloop, stages)| {
        let mut pins = Pins::NONE;
        for (knob, words) in
            [("threadblock", tile), ("warp", warp), ("mainloop", mainloop), ("stages", stages)]
        {
            pins.set(knob, words).expect("a value");
        }
        let default_knobs = default_knobs(types, arch).expect("a row");
        let desc = GemmDesc::from_values(OpKind::TensorOp, arch, types, orders, default_knobs)
            .pinned(pins);
        assert_eq!(desc.check(), Ok(()), "{desc:?}");
        (String::from(name), desc.one_schedule().expect("one schedule"))
    };
    let (hopper, ampere) = (ArchKind::Sm90, ArchKind::Sm80);
    [
        ("f64", f64s, hopper, ORDERS[1], "32x32x16", "16x16x16", "multistage", "3"),
        ("f16", halves, ampere, ORDERS[0], "32x32x64", "32x16x32", "multistage", "2"),
        ("f16 transposed", halves, ampere, ORDERS[3], "64x64x32", "32x32x32", "multistage", "4"),
        ("f16 one deep", halves, ampere, ORDERS[1], "32x32x16", "16x16x16", "multistage", "3"),
        ("f16 in registers", halves, ampere, ORDERS[3], "32x32x32", "32x16x16", "pipelined", "2"),
        ("bytes", bytes, ampere, ORDERS[3], "32x32x64", "16x32x64", "pipelined", "2"),
    ]
    .map(make)
    .into()
}

fn find_fault(program: &Program) -> Option<String> {
    wrong(program, CHECKED, ragged(&program.desc))
}

#[test]
fn every_dropped_step_is_found() {
    for (name, program) in subjects() {
        assert_eq!(find_fault(&program), None, "{name}, unchanged");
    }
    drop_each(&subjects(), find_fault).check(91);
}

/// A tile with one k-block has one fragment of A. A load before the products would overwrite it
/// with the fragment of the next tile.
#[test]
fn a_tile_with_one_k_block_loads_a_after_its_products() {
    let mut deep = 0;
    for (name, program) in
        subjects().into_iter().filter(|(_, program)| program.base.k_blocks() == 1)
    {
        let mut mutant = program.clone();
        let at = mutant.schedule.body.first_like(Step::LoadA { k_block: 0 });
        assert!(
            matches!(mutant.schedule.body[at - 1], Step::MultiplyLoad { k_block: 0, next: 0 }),
            "{name}"
        );
        mutant.schedule.body.swap(at - 1, at);
        let fault = find_fault(&mutant).expect("found");
        assert!(fault.contains("fragment"), "{name}: {fault}");
        deep += 1;
    }
    assert_eq!(deep, 2);
}

/// Swaps the values of two random points of a map.
fn exchange(map: &mut Map, seed: u64) {
    let domain = map.domain();
    let point = |i: u64| {
        let i = (draw(seed, i) % (u64::from(domain.row) * u64::from(domain.column))) as u32;
        at(i / domain.column, i % domain.column)
    };
    let first = point(0);
    let differs = |other: &Coord| map.at(*other) != map.at(first);
    let second = (1..).map(point).find(differs).expect("another value");
    mutate(map, move |map, point| match point {
        point if point == first => map.at(second),
        point if point == second => map.at(first),
        point => map.at(point),
    });
}

#[test]
fn every_map_with_two_swapped_points_is_found() {
    for (name, program) in subjects() {
        let found = |what: &str, change: &dyn Fn(&mut Program)| {
            let mut mutant = program.clone();
            change(&mut mutant);
            assert!(find_fault(&mutant).is_some(), "{name}: {what}");
        };
        for (side, seed) in [0, 1].into_iter().flat_map(|side| (0..3).map(move |seed| (side, seed)))
        {
            found(&format!("fragments of operand {side}, seed {seed}"), &|mutant| {
                let rows = mutant.maps.rows[side].as_mut();
                exchange(rows.unwrap_or(&mut mutant.maps.fragment[side]), seed);
            });
        }
        found("accumulators", &|mutant| exchange(&mut mutant.maps.accumulator, 5));
    }
}
