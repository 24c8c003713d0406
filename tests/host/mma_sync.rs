//! `mma.sync` kernels on the host: they conform, and both modes give the same bits. The folders of
//! the main loops have the mutants.

mod arrays;
mod batches;
mod conformance;
pub(super) mod cutlass_list;
mod epilogue_operands;
mod operations;
mod register_terms;
mod saturate;
mod simt;
mod tensor_core_claims;
mod transforms;
mod wgmma_ring;

use crate::harness::{
    integers::{ragged, wrong},
    prelude::*,
    problems,
};
use falchion_check::mutation::{Edit, drop_each};

const CHECKED: Mode = Mode::Checked { seed: 7 };
pub(super) const ORDERS: [[Order; 3]; 4] = [
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

/// Checks that an architecture has at least `least` defaults, and that they conform.
pub(super) fn defaults_conform(arch: ArchKind, least: usize) {
    let defaults: Vec<_> = defaults().into_iter().filter(|desc| desc.arch == arch).collect();
    assert!(defaults.len() >= least, "{} defaults on {arch}", defaults.len());
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

#[test]
fn defaults_of_every_architecture_conform() {
    for (arch, least) in
        [(ArchKind::Sm80, 11), (ArchKind::Sm86, 11), (ArchKind::Sm89, 23), (ArchKind::Sm90, 1)]
    {
        defaults_conform(arch, least);
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
}

/// Name, types, architecture, orders, threadblock and warp tiles, main loop, and stages of a
/// program.
type Subject =
    (&'static str, Combined, ArchKind, [Order; 3], [&'static str; 2], (MainloopKind, u32));

/// Returns the program of a subject.
pub(super) fn subject((name, types, arch, orders, tiles, of): Subject) -> (String, Program) {
    let [threadblock, warp] = tiles.map(|tile| tile.parse().ok());
    let (mainloop, stages) = (Some(of.0), Some(of.1));
    let pins = Pins { threadblock, warp, mainloop, stages, ..Pins::NONE };
    let default_knobs = default_knobs(types, arch).expect("a row");
    let desc =
        GemmDesc::from_values(OpKind::TensorOp, arch, types, orders, default_knobs).pinned(pins);
    assert_eq!(desc.check(), Ok(()), "{desc:?}");
    (String::from(name), desc.one_schedule().expect("one schedule"))
}

fn find_fault(program: &Program) -> Option<String> {
    wrong(program, CHECKED, ragged(&program.desc))
}

/// Checks that each dropped step is found, and that there are `count` of them.
pub(super) fn drop_steps(subjects: &[(String, Program)], count: usize) {
    for (name, program) in subjects {
        assert_eq!(find_fault(program), None, "{name}, unchanged");
    }
    drop_each(subjects, find_fault).check(count);
}

/// Checks a tile with one k-block, which has one fragment of A. A load before the products would
/// overwrite it with the fragment of the next tile.
pub(super) fn load_a_before_products((name, program): (String, Program)) {
    assert_eq!(program.base.k_blocks(), 1, "{name}");
    let mut mutant = program.clone();
    let at = mutant.schedule.body.first_like(Step::LoadA { k_block: 0 });
    assert!(
        matches!(mutant.schedule.body[at - 1], Step::MultiplyLoad { k_block: 0, next: 0 }),
        "{name}"
    );
    mutant.schedule.body.swap(at - 1, at);
    let fault = find_fault(&mutant).expect("found");
    assert!(fault.contains("fragment"), "{name}: {fault}");
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

/// Checks that a map with two swapped points is found.
pub(super) fn swap_points(subjects: &[(String, Program)]) {
    for (name, program) in subjects {
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
