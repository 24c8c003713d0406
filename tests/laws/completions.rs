//! Resolving keeps pinned knobs, and derives the others.

use crate::harness::{completions::*, prelude::*, words::has_all_variants};
use std::hint::black_box;

/// A tree without a variant lacks the type combinations that only this variant multiplies.
#[test]
fn every_type_combination_has_a_kernel_on_hopper() {
    for op in OpKind::ALL {
        let missing = Combined::all_of(op).len() - combinations_on_hopper(op).len();
        assert!(missing == 0 || !has_all_variants(), "{op}: {missing} combinations");
    }
}

pub(super) fn multiples(step: u32, most: u32) -> Vec<u32> {
    (1..=most / step).map(|i| i * step).collect()
}

/// Checks that every value of a knob with a valid kernel completes. If a value does not complete,
/// `of` returns pins with the value, among which the check searches for a valid kernel.
pub(super) fn every_value_completes<V: ToString + Copy>(
    base: &GemmDesc,
    knob: &'static str,
    values: &[V],
    of: impl Fn(V) -> Vec<Pins>,
) {
    let mut found = 0;
    for &value in values {
        match completed(base, &[(knob, value.to_string())]) {
            Ok(_) => found += 1,
            Err(sentence) => {
                let other = of(value).into_iter().find(|pins| base.with(*pins).check().is_ok());
                assert!(
                    other.is_none(),
                    "{:?} {knob} {}: {sentence}\n{other:?}",
                    base.types(),
                    value.to_string()
                );
                assert!(sentence.contains("no kernel was found with this "), "{sentence}");
            }
        }
    }
    assert!(found > 0, "{knob}: no value of {} completes", values.len());
}

fn is_warp_specialized(base: &GemmDesc) -> bool {
    base.has_producer()
}

/// Returns pins with every schedule, warp tile, and instruction.
fn on_tensor_cores(base: &GemmDesc, threadblock: Option<Mnk>, warp: Option<Mnk>) -> Vec<Pins> {
    let mut all = Vec::new();
    for (m, n) in [(1, 1), (2, 1), (1, 2), (3, 1), (1, 3)] {
        let threadblock = threadblock.unwrap_or_else(|| {
            warp.map(|warp| Mnk { m: warp.m * m, n: warp.n * n, ..warp }).expect("one")
        });
        let warp =
            warp.unwrap_or(Mnk { m: threadblock.m / m, n: threadblock.n / n, ..threadblock });
        for schedule in ScheduleKind::ALL {
            for n in multiples(8, 256).into_iter().filter(|n| warp.n.is_multiple_of(*n)) {
                let instruction = Some(Mnk { n, ..base.instruction() });
                let (threadblock, warp) = (Some(threadblock), Some(warp));
                all.push(Pins {
                    threadblock,
                    warp,
                    instruction,
                    schedule: Some(schedule),
                    stages: Some(2),
                    ..Pins::NONE
                });
            }
        }
    }
    all
}

#[test]
fn every_tensor_core_tile_completes() {
    for base in classes(OpKind::TensorOp).filter(is_warp_specialized) {
        let all = tiles(&multiples(64, 512), &multiples(8, 512), &[base.threadblock().k]);
        every_value_completes(&base, "threadblock", &all, |tile| {
            on_tensor_cores(&base, Some(tile), None)
        });
        every_value_completes(&base, "warp", &all, |tile| on_tensor_cores(&base, None, Some(tile)));
    }
}

/// Stages, clusters, schedules, and main loops of warp-specialized kernels, one at a time.
#[test]
fn every_value_of_other_knobs_completes() {
    for base in classes(OpKind::TensorOp).filter(is_warp_specialized) {
        let k = base.threadblock().k;
        let small = tiles(&[64, 128], &[8, 16, 32, 64], &[k]);
        let stages: Vec<u32> = (2..=16).collect();
        every_value_completes(&base, "stages", &stages, |stages| {
            let all = small.iter().flat_map(|tile| on_tensor_cores(&base, Some(*tile), None));
            all.map(|pins| Pins { stages: Some(stages), ..pins }).collect()
        });
        let clusters: Vec<Mn> =
            (1..=8).flat_map(|blocks| [Mn { m: blocks, n: 1 }, Mn { m: 1, n: blocks }]).collect();
        every_value_completes(&base, "cluster", &clusters, |cluster| {
            let all = tiles(&multiples(64, 512), &multiples(8, 512), &[k]);
            let all = all.into_iter().flat_map(|tile| on_tensor_cores(&base, Some(tile), None));
            all.map(|pins| Pins { cluster: Some(cluster), ..pins }).collect()
        });
        for (knob, value) in [
            ("schedule", "cooperative"),
            ("schedule", "pingpong"),
            ("mainloop", base.mainloop.kind().name()),
        ] {
            each(&base, knob, value);
        }
    }
}

pub(crate) fn each(base: &GemmDesc, knob: &'static str, value: &str) {
    let desc = completed(base, &[(knob, value.to_owned())])
        .unwrap_or_else(|said| panic!("{knob} {value}: {said}"));
    assert_eq!(desc.check(), Ok(()));
}

/// Some knobs of a valid description complete to a valid description that has them. At most a few
/// percent of random choices are refused, with advice.
#[test]
fn some_knobs_of_a_valid_kernel_complete() {
    let kinds: &[(KernelKind, Option<&str>)] = &[
        (KernelKind::Simt, None),
        (KernelKind::WgmmaRing, None),
        (KernelKind::SimtRing, Some("warpspecialized")),
    ];
    for &(kernel_kind, mainloop) in kinds {
        let mut unfound = 0;
        for seed in 0..3000u64 {
            let desc = description(seed, Wanted { plain: true, kernel_kind, ..Wanted::default() });
            // Resolved descriptions with A in shared memory have a row-major D. Some tiles of a
            // column-major D are invalid with it.
            let by_columns = desc.frame.d_order() == Order::Col
                && desc.pins().a_operand == Some(AOperandKind::Shared);
            if by_columns && but!(desc.swapped(), layout_c: Order::Row).check().is_err() {
                continue;
            }
            let mut random = Random::new(seed);
            let words = desc.user_pins().words();
            let mut pins: Vec<Pinned> = Pins::TABLE
                .iter()
                .zip(words)
                .filter_map(|(row, word)| (row.0 != "epilogue").then_some((row.0, word?)))
                .collect();
            let kept = 1 + random.below(pins.len());
            while pins.len() > kept {
                pins.swap_remove(random.below(pins.len()));
            }
            pins.retain(|pin| pin.0 != "mainloop" || mainloop.is_none());
            pins.extend(mainloop.map(|mainloop| ("mainloop", mainloop.to_owned())));
            if let Err(sentence) = completed(&desc, &pins) {
                assert!(
                    sentence.contains("no kernel was found with this "),
                    "{pins:?}: {sentence}"
                );
                unfound += 1;
            }
        }
        assert!(unfound <= 60, "{kernel_kind:?}: {unfound} of 3000");
    }
}

/// Resolving ends without a panic for any pins.
#[test]
fn any_pins_resolve_or_are_refused() {
    let numbers = [0, 1, 7, 8, 9, 64, 65, 1 << 10, 1 << 31, u32::MAX];
    for base in classes(OpKind::TensorOp).take(2).chain(classes(OpKind::Simt).take(2)) {
        for seed in 0..4000u64 {
            let mut random = Random::new(seed);
            let mut number = || random.pick(&numbers);
            let tile = format!("{}x{}x{}", number(), number(), number());
            let all = [
                ("threadblock", tile.clone()),
                ("warp", tile.clone()),
                ("instruction", tile),
                ("stages", number().to_string()),
                ("cluster", format!("{}x{}", number(), number())),
                ("align_a", number().to_string()),
                ("smem_b", format!("mn^{},{},{}", number(), number(), number())),
                ("blocks_per_sm", number().to_string()),
                ("unroll", number().to_string()),
            ];
            let some: Vec<Pinned> = all.into_iter().filter(|_| random.below(3) == 0).collect();
            if let Ok(desc) = completed(&base, &some) {
                assert_eq!(desc.check(), Ok(()), "{some:?}");
            }
        }
    }
}

/// Checks the host time of a selection: for a problem that is new each time, and for a repeated
/// one.
pub fn check_selection_time(name: &str, choose: &dyn Fn(&ProblemSize, &Machine) -> GemmDesc) {
    let machine = ArchKind::Sm90.machine();
    let cost = |new: usize| {
        let began = Instant::now();
        let stages: u64 = (0..100_000)
            .map(|i| {
                u64::from(
                    choose(&ProblemSize::new(black_box((1000 + new * i, 2112, 7168))), &machine)
                        .stages(),
                )
            })
            .sum();
        assert!(stages > 0);
        began.elapsed().as_secs_f64() * 10.0
    };
    let [new, repeated] = [1, 0].map(cost);
    println!("{name}: {new:.2} us for a new problem, {repeated:.2} us for a repeated one");
    assert!(new < 1.0 && repeated < 0.2, "{name}: {new:.2} us, {repeated:.2} us");
}

/// Host time of a selection, for the class with the most configurations.
#[test]
#[ignore = "measures time: run by name, in release"]
fn choosing_costs_less_than_a_microsecond() {
    let bf16 = HopperK::<Bf16, Bf16>::new();
    check_selection_time("bf16", &|size, machine| bf16.desc_for(size, machine));
}
