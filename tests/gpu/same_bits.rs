//! The device gives the host's bits.

use crate::harness::{
    completions::tiles_of_halves,
    descriptions::{self, coverage::Coverage},
    on_cuda::OnCuda,
    prelude::*,
    same_bits::{MOST_WORK, compare, roles, threads},
};
use rayon::prelude::*;

/// The fast mode and the device on problems of descriptions drawn from a seed.
fn device_pairs(
    seed: u64,
    descriptions: u64,
    wanted: descriptions::Wanted,
) -> (usize, Vec<GemmDesc>) {
    device_pairs_of(seed, descriptions, wanted, |_| true)
}

/// The same of those of the descriptions that are `asked` for.
fn device_pairs_of(
    seed: u64,
    descriptions: u64,
    wanted: descriptions::Wanted,
    asked: impl Fn(&GemmDesc) -> bool,
) -> (usize, Vec<GemmDesc>) {
    let device = OnCuda::new();
    let all =
        (0..descriptions).map(|i| draw(seed, i)).map(|seed| (seed, description(seed, wanted)));
    let descriptions: Vec<(u64, GemmDesc)> = all.filter(|(_, desc)| asked(desc)).collect();
    let pairs = descriptions
        .par_iter()
        .map(|(seed, desc)| {
            let on_device = |guarded: &Guarded, buffers: &Buffers, _| {
                let mut after = buffers.clone();
                after.run(&device, desc, guarded)?;
                Ok(after.d)
            };
            for i in 0..8 {
                let seeds = (*seed, draw(*seed, i));
                compare(desc, seeds, true, &on_device)
                    .unwrap_or_else(|error| panic!("{error} {seeds:?} {desc:?}"));
            }
            8
        })
        .sum();
    (pairs, descriptions.into_iter().map(|(_, desc)| desc).collect())
}

fn distinct(descriptions: &[GemmDesc]) -> usize {
    descriptions.iter().collect::<std::collections::HashSet<_>>().len()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_gives_the_hosts_bits() {
    let wanted = descriptions::Wanted {
        largest_tile: MOST_WORK as u32 / 4,
        ..descriptions::Wanted::default()
    };
    let (pairs, descriptions) = device_pairs(0xb175_0fd5, 150, wanted);
    let of = |kind| descriptions.iter().filter(|desc| desc.class.a.element == kind).count();
    let kinds = [ElementKind::F32, ElementKind::F64, ElementKind::I8].map(of);
    println!(
        "{pairs} pairs from {} descriptions, {kinds:?} of them in f32, f64 and i8",
        distinct(&descriptions)
    );
    assert!(
        pairs >= 500 && distinct(&descriptions) >= 100 && kinds.iter().all(|&count| count >= 5)
    );
}

/// Whether both products of one instruction are rounded as each alone is: bit by bit, denormals and
/// what is not finite among them.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn halves_two_a_register_give_the_hosts_bits() {
    let device = OnCuda::new();
    let all = tiles_of_halves(ArchKind::Sm90);
    all.par_iter().enumerate().for_each(|(i, desc)| {
        let on_device = |guarded: &Guarded, buffers: &Buffers, _| {
            let mut after = buffers.clone();
            after.run(&device, desc, guarded)?;
            Ok(after.d)
        };
        for seed in 0..6 {
            compare(desc, (0, draw(i as u64, seed)), true, &on_device)
                .unwrap_or_else(|error| panic!("{error} {desc:?}"));
        }
    });
}

/// Whether the CUDA cores that TMA feeds add as the host does: bit by bit.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn threads_that_tma_feeds_give_the_hosts_bits() {
    let (pairs, descriptions) = device_pairs(0xb175_0ff3, 60, threads());
    let missing = Coverage::missing_threads(&descriptions);
    println!("{pairs} pairs from {} descriptions, which lack {missing:?}", distinct(&descriptions));
    assert!(pairs >= 400 && distinct(&descriptions) >= 50 && missing.len() <= 2);
}

/// Whether the host adds as the tensor cores of Hopper do: bit by bit.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn the_tensor_cores_give_the_hosts_bits() {
    let (pairs, descriptions) = device_pairs(0xb175_0f90, 90, roles());
    let of = |kind| descriptions.iter().filter(|desc| desc.class.a.element == kind).count();
    let kinds = [ElementKind::F16, ElementKind::Bf16, ElementKind::I8].map(of);
    println!(
        "{pairs} pairs from {} descriptions, {kinds:?} of them in f16, bf16 and i8",
        distinct(&descriptions)
    );
    assert!(pairs >= 500 && distinct(&descriptions) >= 80 && kinds.iter().all(|&count| count >= 3));
}

/// Descriptions of Hopper whose warps multiply by `mma.sync`.
fn mma_sync() -> descriptions::Wanted {
    let family = descriptions::Family::MmaSync;
    descriptions::Wanted {
        largest_tile: MOST_WORK as u32 / 4,
        family,
        arch: Some(ArchKind::Sm90),
        ..descriptions::Wanted::default()
    }
}

/// Of integers, and of f64, whose instructions add in the order of k.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn mma_sync_gives_the_hosts_bits_of_integers_and_f64() {
    let whole = |kind: ElementKind| kind.is_integer() || kind == ElementKind::F64;
    let (pairs, descriptions) =
        device_pairs_of(0xb175_55d0, 240, mma_sync(), |desc| whole(desc.class.a.element));
    println!("{pairs} pairs from {} descriptions", distinct(&descriptions));
    assert!(pairs >= 150);
}

/// Of those that round as `numeric::Instruction` says; of shallow ones, fewer products at once.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn mma_sync_gives_the_hosts_bits_of_other_floating_point_numbers() {
    let whole = |kind: ElementKind| kind.is_integer() || kind == ElementKind::F64;
    let (pairs, descriptions) =
        device_pairs_of(0xb175_55d1, 160, mma_sync(), |desc| !whole(desc.class.a.element));
    println!("{pairs} pairs from {} descriptions", distinct(&descriptions));
    assert!(pairs >= 300);
}
