//! The fast host and the checked machine give the same bits for random descriptions and problems.
//! The data include infinities, NaN, signed zeros, denormals, and integers that wrap. NaN may have
//! any payload.

mod simt;
mod simt_ring;

use crate::harness::{
    prelude::*,
    same_bits::{simt_ring, wgmma_ring, *},
};

fn checked(
    desc: &GemmDesc,
    guarded: &Guarded,
    buffers: &Buffers,
    seed: u64,
) -> Result<HostBuffer, Error> {
    run(desc, Mode::Checked { seed }, guarded, buffers)
}

fn fast_and_checked(desc: &GemmDesc, seeds: (u64, u64)) -> bool {
    let checked =
        |guarded: &Guarded, buffers: &Buffers, seed| checked(desc, guarded, buffers, seed);
    compare(desc, seeds, false, &checked).unwrap_or_else(|error| panic!("{error}\n  {desc:?}"))
}

/// Defines tests that compare both modes, and require a coverage of the descriptions.
macro_rules! pairs {
    ($($name:ident: $seed:expr, $wanted:expr, $descriptions:expr, $problems:expr, $least:expr,
       $missing:expr;)*) => {
        $(#[test]
        fn $name() {
            let (seed, descriptions, problems) = ($seed, $descriptions, $problems);
            let (asked, aligned) = (|_: &GemmDesc| true, false);
            let pairs =
                Pairs { seed, descriptions, problems, wanted: $wanted, asked, aligned };
            let descriptions = pairs.compare(&checked, $least);
            let missing: fn(&[GemmDesc]) -> Vec<String> = $missing;
            if !descriptions.is_empty() {
                assert_eq!(missing(&descriptions), Vec::<String>::new());
            }
        })*
    };
}
use pairs;

pairs! {
    // The checked mode moves bytes through the ring, and reads them through descriptors.
    fast_and_checked_give_the_same_bits_for_warp_specialized_kernels: 0x5a3e_b190,
        wgmma_ring(), 220, 3,
        (450, 150, 1), |all| with_vectors(all, Coverage::missing_warp_specialized(all));
    // Threads read TMA boxes, in an order of events that a seed selects.
    fast_and_checked_give_the_same_bits_where_threads_multiply: 0x5a3e_b1f3,
        simt_ring(), 200, 3,
        (600, 200, 1), |all| with_vectors(all, Coverage::missing_threads(all));
    fast_and_checked_give_the_same_bits_of_mma_sync: 0xb175_55c0,
        mma_sync(None), 120, 3,
        (360, 50, 100), |_| Vec::new();
}

/// Stream-K of every kind of kernel: tile edges, clusters with several tiles, both frames of D, and
/// epilogues that read C and vectors.
#[test]
fn fast_and_checked_give_the_same_bits_with_stream_k() {
    let kernel_kinds =
        [KernelKind::WgmmaRing, KernelKind::SimtRing, KernelKind::MmaSync, KernelKind::Simt];
    let all: Vec<(u64, KernelKind, GemmDesc)> = kernel_kinds
        .into_iter()
        .flat_map(|kernel_kind| {
            let largest_tile = match kernel_kind {
                KernelKind::WgmmaRing => 1 << 20,
                _ => MOST_WORK as u32,
            };
            let wanted = Wanted { kernel_kind, largest_tile, ..Wanted::default() };
            (0..40).filter_map(move |i| {
                let seed = draw(0x57e4, i);
                with_stream_k(description(seed, wanted)).map(|[_, desc]| (seed, kernel_kind, desc))
            })
        })
        .collect();
    let special: usize = all
        .par_iter()
        .map(|&(seed, _, desc)| {
            (0..2).filter(|&i| fast_and_checked(&desc, (seed, draw(seed, i)))).count()
        })
        .sum();
    let of = |holds: fn(&GemmDesc) -> bool| all.iter().filter(|(.., desc)| holds(desc)).count();
    for kernel_kind in kernel_kinds {
        let count = all.iter().filter(|(_, kind, _)| *kind == kernel_kind).count();
        assert!(count >= 20, "{kernel_kind:?}: {count}");
    }
    let (clusters, rings) = (of(|desc| desc.cluster() != Mn::ONE), of(GemmDesc::has_producer));
    let not_f32 = of(|desc| desc.output.accumulator != ElementKind::F32);
    println!("clusters, not f32: {clusters}, {not_f32}, {special} special of {}", all.len());
    assert!(clusters >= 20 || rings == 0, "{clusters} clusters");
    assert!(not_f32 >= 5 * kernel_kinds.len(), "{not_f32} of {}", all.len());
    assert!(2 * special > all.len(), "{special} of {}", all.len());
}
