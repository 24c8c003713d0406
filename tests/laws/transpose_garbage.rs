//! Invalid descriptions and problems are refused without a panic. Queries of an unchecked
//! description do not panic either.

use crate::harness::prelude::*;

const NUMBERS: [u32; 14] = [0, 1, 2, 3, 4, 8, 16, 31, 32, 33, 64, 128, 1 << 31, u32::MAX];

/// Returns a generator of numbers, some of which are invalid.
fn numbers(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut index = 0;
    move |fair| {
        index += 1;
        let bits = draw(seed, index);
        if bits.is_multiple_of(9) { NUMBERS[(bits >> 8) as usize % NUMBERS.len()] } else { fair }
    }
}

fn description(drawn: &mut dyn FnMut(u32) -> u32) -> TransposeDesc {
    TransposeDesc {
        combine: [Combine::Move, Combine::F32, Combine::F64][drawn(0) as usize % 3],
        element_bytes: drawn(4),
        rows: drawn(32),
        columns: drawn(32),
        threads: drawn(256),
        access_a: drawn(1),
        thread_rows: drawn(1),
        access_d: drawn(1),
        staging: match drawn(1) % 4 {
            0 => Staging::Direct,
            2 => Staging::Gathered,
            1 => Staging::Padded(drawn(1)),
            _ => Staging::Swizzled { bits: drawn(3), base: drawn(0), shift: drawn(0) },
        },
        lanes: if drawn(0) % 2 == 1 { Lanes::Across } else { Lanes::Along },
        order: SwizzleKind::Identity(drawn(1)),
        blocks_per_sm: drawn(4),
        ..TransposeRung::Padded.desc(Combine::Move, 4)
    }
}

/// At points inside and far outside of the domain, the map gives no offset, or an offset inside the
/// codomain if 32 bits represent it.
fn check_map(map: &dyn IndexMap, what: &dyn std::fmt::Debug) -> usize {
    let (Coord { row, column }, codomain) = (map.domain(), map.codomain());
    let near = |extent: u32| [0, 1, extent / 2, extent.saturating_sub(1), extent, u32::MAX];
    let points = near(row).into_iter().flat_map(|row| near(column).map(|column| at(row, column)));
    let offsets: Vec<u32> = points.filter_map(|point| map.at(point)).collect();
    assert!(
        codomain == u32::MAX || offsets.iter().all(|&offset| offset < codomain),
        "{offsets:?} of {codomain}: {what:?}"
    );
    offsets.len()
}

/// Queries of an unchecked description return numbers: `at(thread, step) < codomain`, or no offset.
#[test]
fn invalid_descriptions_never_panic() {
    let (mut offsets, mut refused, mut saturated) = (0, 0, 0);
    for seed in 0..40_000 {
        let desc = description(&mut numbers(seed));
        offsets += check_map(&desc.fetch(), &desc)
            + check_map(&desc.write(), &desc)
            + check_map(&desc.gathered(), &desc);
        let word = desc.to_string();
        assert!(
            word.starts_with(&format!("{}x{}_t{}", desc.rows, desc.columns, desc.threads)),
            "{word}"
        );
        let numbers =
            [desc.smem_bytes(), desc.registers(), desc.reads(), desc.gathered().elements()];
        saturated += usize::from(numbers.contains(&u32::MAX));
        refused += usize::from(desc.check().is_err());
    }
    println!(
        "{offsets} offsets; {refused} descriptions are invalid, {saturated} have a number beyond 32 bits"
    );
    assert!(offsets > 100_000 && refused > 10_000 && saturated > 100);
}

/// No invalid description or problem causes more than a refusal.
#[test]
fn invalid_calls_are_refused_without_a_panic() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..40_000 {
        let mut drawn = numbers(seed);
        let desc = description(&mut drawn);
        let wild = |drawn: &mut dyn FnMut(u32) -> u32| {
            let number = drawn(7) as usize;
            if number == u32::MAX as usize { usize::MAX } else { number }
        };
        let mut matrix = || {
            let [leading, stride, length] = [(); 3].map(|()| wild(&mut drawn));
            View::new(Elements::new(length.min(4096)), Order::Row, leading).batched(stride)
        };
        let (a, c, d) = (matrix(), matrix(), matrix());
        let extents = (wild(&mut drawn), wild(&mut drawn));
        let packed = Problem::transpose(extents, wild(&mut drawn), [None; 3], [1.0, 0.0]);
        let c = if drawn(0) == 1 { Source::Matrix(c) } else { Source::None };
        let problem = Problem { a: a.transposed(), c, d, ..packed };
        for choice in [Choice::Desc(desc), Choice::Auto] {
            let kind = match desc.element_bytes {
                0 | 1 => ElementKind::I8,
                2 => ElementKind::Bf16,
                3 | 4 => ElementKind::F32,
                _ => ElementKind::F64,
            };
            let chosen = choice.desc(kind, &problem);
            match chosen.check().and_then(|()| chosen.enter(problem)) {
                Ok(_) => accepted += 1,
                Err(refusal) => {
                    assert!(!refusal.to_string().is_empty());
                    refused += 1;
                }
            }
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 100 && refused > 10_000);
}
