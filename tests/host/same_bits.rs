//! The fast host and the checked one give the same bits: on random descriptions and problems, with
//! numbers that are hard to treat alike (infinities, NaN, zeros with a sign, denormals, integers
//! that wrap). NaN may carry any payload.

use crate::harness::{
    asked_for,
    completions::tiles_of_halves,
    descriptions::{self, coverage::Coverage},
    prelude::*,
    reproduce,
    same_bits::{MOST_WORK, compare, difference, roles, run, threads},
};
use rayon::prelude::*;

const DESCRIPTIONS: usize = 700;
const PROBLEMS_EACH: usize = 4;

fn fast_and_checked(desc: &GemmDesc, seeds: (u64, u64)) -> bool {
    let checked = |guarded: &Guarded, buffers: &Buffers, seed| {
        run(desc, Mode::Checked { seed }, guarded, buffers)
    };
    compare(desc, seeds, false, &checked)
        .unwrap_or_else(|error| panic!("{error}\n  {}\n  {desc:?}", reproduce("same_bits", seeds)))
}

/// Both modes on problems of descriptions drawn from a seed: how many pairs, how many with special
/// numbers, which descriptions.
fn random_pairs(
    seed: u64,
    descriptions: usize,
    problems: usize,
    wanted: descriptions::Wanted,
) -> (usize, usize, Vec<GemmDesc>) {
    let descriptions: Vec<(u64, GemmDesc)> = (0..descriptions)
        .map(|i| draw(seed, i as u64))
        .map(|seed| (seed, description(seed, wanted)))
        .collect();
    let (pairs, special) = descriptions
        .par_iter()
        .map(|(seed, desc)| {
            (0..problems).fold((0, 0), |(pairs, special), i| {
                (
                    pairs + 1,
                    special + usize::from(fast_and_checked(desc, (*seed, draw(*seed, i as u64)))),
                )
            })
        })
        .reduce(|| (0, 0), |x, y| (x.0 + y.0, x.1 + y.1));
    (pairs, special, descriptions.into_iter().map(|(_, desc)| desc).collect())
}

#[test]
fn fast_and_checked_give_the_same_bits() {
    let wanted = descriptions::Wanted {
        largest_tile: MOST_WORK as u32 / 4,
        ..descriptions::Wanted::default()
    };
    if let Some(seeds) = asked_for() {
        fast_and_checked(&description(seeds.0, wanted), seeds);
        return;
    }
    let (pairs, special, descriptions) =
        random_pairs(0x5a3e_b175, DESCRIPTIONS, PROBLEMS_EACH, wanted);
    let missing = Coverage::of(&descriptions).missing();
    println!(
        "{pairs} pairs, {special} of them with special numbers; descriptions lack {missing:?}"
    );
    assert!(pairs >= 2800 && special >= 1200);
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(Coverage::missing_vectors(&descriptions), Vec::<String>::new());
}

/// Two accumulators a register change no bit: problems around the edges of CUTLASS's tiles of them.
#[test]
fn tiles_of_halves_give_the_same_bits() {
    tiles_of_halves(ArchKind::Sm90).par_iter().enumerate().for_each(|(i, desc)| {
        fast_and_checked(desc, (0, draw(0x4a1f, i as u64)));
    });
}

/// The checked mode carries bytes through the ring and reads them through descriptors; the fast one
/// knows neither.
#[test]
fn fast_and_checked_give_the_same_bits_for_warp_specialized_kernels() {
    if let Some(seeds) = asked_for() {
        fast_and_checked(&description(seeds.0, roles()), seeds);
        return;
    }
    let (pairs, special, descriptions) = random_pairs(0x5a3e_b190, 220, 3, roles());
    let missing = Coverage::missing_warp_specialized(&descriptions);
    println!(
        "{pairs} pairs, {special} of them with special numbers; descriptions lack {missing:?}"
    );
    assert!(pairs >= 450 && special >= 150);
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(Coverage::missing_vectors(&descriptions), Vec::<String>::new());
}

/// Threads read what TMA boxes hold, in an order of events that a seed draws; the fast mode knows
/// chains alone.
#[test]
fn fast_and_checked_give_the_same_bits_where_threads_multiply() {
    if let Some(seeds) = asked_for() {
        fast_and_checked(&description(seeds.0, threads()), seeds);
        return;
    }
    let (pairs, special, descriptions) = random_pairs(0x5a3e_b1f3, 200, 3, threads());
    let missing = Coverage::missing_threads(&descriptions);
    println!(
        "{pairs} pairs, {special} of them with special numbers; descriptions lack {missing:?}"
    );
    assert!(pairs >= 600 && special >= 200);
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(Coverage::missing_vectors(&descriptions), Vec::<String>::new());
}

/// The same product by threads that all follow one schedule, which copy what they multiply
/// themselves.
fn of_one_schedule(d: &GemmDesc) -> GemmDesc {
    let family = default_gemm_configurations(OpKind::Simt, ArchKind::Sm80, d.class.combined())
        .expect("a row")[0];
    let k = d.threadblock().k;
    but!(
        but!(*d, arch: ArchKind::Sm80).with_family(family),
        mainloop: MainloopKind::Pipelined,
        threadblock: Mnk::new(64, 32, k),
        warp: Mnk::new(32, 16, k),
        stages: 2,
        split_k: d.split_k(),
        align_a: 1,
        align_b: 1,
        align_c: 1
    )
}

/// D of a description whose threads multiply what TMA brings, run through its ring, has the bits of
/// the main loop that gathers its tiles itself, run thread by thread: `D = epilogue(fma chain over
/// k of A B, C)`, whatever the tiles.
#[test]
fn threads_give_the_bits_of_the_other_main_loops() {
    let compared: usize = (0..60u64)
        .into_par_iter()
        .map(|i| {
            let seed = draw(0x5a3e_b1f4, i);
            let desc = description(seed, threads());
            let other = of_one_schedule(&desc);
            assert_eq!(other.check(), Ok(()), "{other:?}");
            let checked = |guarded: &Guarded, buffers: &Buffers, seed| {
                let ring = run(&desc, Mode::Checked { seed }, guarded, buffers)?;
                let threads = run(&other, Mode::Checked { seed }, guarded, buffers)?;
                assert_eq!(difference(&ring, &threads)?, None, "{desc:?} {guarded:?}");
                Ok(threads)
            };
            for i in 0..3 {
                compare(&desc, (seed, draw(seed, i)), false, &checked)
                    .unwrap_or_else(|error| panic!("{error} {desc:?}"));
            }
            3
        })
        .sum();
    println!("{compared} products");
    assert!(compared >= 180);
}

/// The same of kernels whose warps multiply by `mma.sync`, slices of K among them.
#[test]
fn fast_and_checked_give_the_same_bits_of_mma_sync() {
    let family = Family::MmaSync;
    let wanted = descriptions::Wanted {
        largest_tile: MOST_WORK as u32 / 4,
        family,
        ..descriptions::Wanted::default()
    };
    let (pairs, special, descriptions) = random_pairs(0xb175_55c0, 120, 3, wanted);
    let distinct: std::collections::HashSet<_> = descriptions.iter().collect();
    println!("{pairs} pairs from {} descriptions, {special} with special numbers", distinct.len());
    assert!(asked_for().is_some() || pairs >= 360 && distinct.len() >= 100 && special >= 50);
}

/// Stream-K of every family: tile edges, clusters of several tiles, every frame of D, and epilogues
/// that read C and vectors.
#[test]
fn fast_and_checked_give_the_same_bits_of_streamed_kernels() {
    let families = [Family::WarpSpecialized, Family::Threads, Family::MmaSync, Family::Simt];
    let all: Vec<(u64, GemmDesc)> = families
        .into_iter()
        .zip([roles(), threads(), threads(), threads()])
        .flat_map(|(family, wanted)| {
            let wanted = descriptions::Wanted { family, ..wanted };
            (0..40).filter_map(move |i| {
                let seed = draw(0x57e4, i);
                streamed(description(seed, wanted)).map(|[_, desc]| (seed, desc))
            })
        })
        .collect();
    let special: usize = all
        .par_iter()
        .map(|&(seed, desc)| {
            (0..2).filter(|&i| fast_and_checked(&desc, (seed, draw(seed, i)))).count()
        })
        .sum();
    let of = |holds: fn(&GemmDesc) -> bool| all.iter().filter(|(_, desc)| holds(desc)).count();
    let kinds = [
        of(|desc| desc.warp_specialized().is_some() && desc.class.op == OpKind::TensorOp),
        of(|desc| desc.warp_specialized().is_some() && desc.class.op == OpKind::Simt),
        of(|desc| desc.warp_specialized().is_none() && desc.class.op == OpKind::TensorOp),
        of(|desc| desc.warp_specialized().is_none() && desc.class.op == OpKind::Simt),
        of(|desc| desc.cluster() != Mn::ONE),
        of(|desc| desc.class.accumulator != ElementKind::F32),
    ];
    println!(
        "wgmma, TMA-fed SIMT, mma.sync, SIMT, clusters, not f32: {kinds:?}, {special} special"
    );
    assert!(kinds.iter().all(|&count| count >= 20) && special >= 80, "{kinds:?}, {special}");
}
