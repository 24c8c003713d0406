//! Stream-K: each tile is the sum of its clusters' ranges, added in ascending k. Integers are exact
//! for any kernel and number of clusters.

use crate::harness::{decompositions::product, prelude::*, product::computed};

/// Kernels whose threads all follow one schedule: with every main loop, with and without sliced K,
/// SIMT and `mma.sync`.
#[test]
fn tiles_of_one_schedule_are_sums_of_the_ranges_of_neighboring_ctas() {
    with_one_schedule().into_iter().for_each(are_sums_of_ranges);
}

/// Returns bf16 kernels with every main loop, whole warp tiles, and sliced K.
fn with_one_schedule() -> Vec<GemmDesc> {
    let kernel = |(mma, mainloop, warp): (WarpMmaKind, MainloopKind, &str)| {
        let tile = [("decomposition", "streamk"), ("threadblock", "64x64x32")];
        let knobs = [&tile[..], &[("mainloop", mainloop.name()), ("warp", warp)]].concat();
        described(["bf16:row", "bf16:col", "f32:row"], (op_of(mma), ArchKind::Sm80), &knobs)
    };
    let all = [
        (WarpMmaKind::Simt, MainloopKind::SingleStage, "32x32x16"),
        (WarpMmaKind::Simt, MainloopKind::Pipelined, "32x32x32"),
        (WarpMmaKind::Simt, MainloopKind::Multistage, "32x32x16"),
        (WarpMmaKind::MmaSync, MainloopKind::Pipelined, "32x32x32"),
        (WarpMmaKind::MmaSync, MainloopKind::Multistage, "32x32x32"),
        (WarpMmaKind::MmaSync, MainloopKind::Multistage, "32x32x16"),
    ];
    all.map(kernel).into()
}

/// Both modes add ranges that begin and end inside a tile in the same order.
#[test]
fn both_modes_sum_ranges_of_one_schedule_in_the_same_order() {
    let extents = (100, 70, 610);
    let (a, b) = rounding_operands(extents, Bf16::from_f32);
    for desc in with_one_schedule() {
        for clusters in [3, 7, 17] {
            let [fast, checked] = [Mode::Fast, Mode::Checked { seed: 7 }].map(|mode| {
                let program = on_clusters(&desc, clusters);
                computed::<Bf16, f32>(&desc, &program, mode, extents, ([&a, &b], f32::NAN))
            });
            assert_eq!(fast, checked, "{clusters} clusters of {desc:?}");
        }
    }
}

/// Checks that every tile is the sum of the ranges that its clusters compute, added eight at a
/// time.
pub fn are_sums_of_ranges(desc: GemmDesc) {
    let [whole, streamed] = with_stream_k(desc).expect("a kernel");
    assert_eq!(streamed, desc);
    let depth = desc.threadblock().k as usize;
    for ((m, n, k), clusters) in [
        ((130, 70, 640), 4),
        ((64, 64, 1300), 9),
        ((64, 128, 192), 5),
        ((200, 130, 100), 3),
        ((128, 128, 256), 2),
    ] {
        let (a, b) = rounding_operands((m, n, k), Bf16::from_f32);
        let got = product(&streamed, Some(clusters), (m, n, k), [&a, &b]);
        let of_range = |range: core::ops::Range<usize>| {
            let lines = |x: &[Bf16]| -> Vec<Bf16> {
                x.chunks(k).flat_map(|line| line[range.clone()].to_vec()).collect()
            };
            product(&whole, None, (m, n, range.len()), [&lines(&a), &lines(&b)])
        };
        let (rows, columns, tiles_k) = (m.div_ceil(64), n.div_ceil(64), k.div_ceil(depth));
        let tiles = rows * columns;
        let clusters = (clusters as usize).min(tiles * tiles_k);
        // The tiles that do not fill a wave, and those of one more wave.
        let of_stream = if tiles % clusters == 0 {
            0
        } else {
            tiles % clusters + if tiles < clusters { 0 } else { clusters }
        };
        assert_eq!(
            Streams::new(tiles as u32, tiles_k as u32, clusters as u32).tiles as usize,
            of_stream
        );
        let ends: Vec<usize> = (0..=clusters)
            .scan(0, |end, cluster| {
                let this = *end;
                let all = of_stream * tiles_k;
                *end += all / clusters + usize::from(cluster < all % clusters);
                Some(this)
            })
            .collect();
        let mut numbers = HashMap::new();
        for tile in 0..tiles {
            let (first, behind) = (tile * tiles_k, (tile + 1) * tiles_k);
            let cuts: Vec<usize> = match tile < of_stream {
                true => [first]
                    .into_iter()
                    .chain(ends.iter().copied().filter(|&at| first < at && at < behind))
                    .chain([behind])
                    .collect(),
                false => vec![first, behind],
            };
            let range = |cut: &[usize]| (cut[0] - first) * depth..k.min((cut[1] - first) * depth);
            let sums: Vec<_> = cuts.windows(2).map(|cut| of_range(range(cut))).collect();
            // The kernel determines the order of tiles, so the test searches for the tile.
            for at in 0..m * n {
                let all = sums.iter().map(|sum| sum[at]).collect();
                numbers.insert((tile, at), eight_by_eight(all, |sum: f32, other| sum + other));
            }
        }
        let work = Work::new(
            (WorkKind::StreamK, streamed.swizzle(), 1),
            (streamed.threadblock(), Mn::ONE),
            ((m, n), 1, tiles_k as u32),
            clusters as u32,
        )
        .expect("few tiles");
        let places = falchion::threadblock::ClusterTiles(work);
        for tile in 0..tiles {
            let place = IndexMap::at(&places, at(0, tile as u32)).expect("a tile") as usize;
            for (i, j) in (0..64).flat_map(|i| (0..64).map(move |j| (i, j))) {
                let (row, column) = (place / columns * 64 + i, place % columns * 64 + j);
                if row < m && column < n {
                    let (got, want) = (got[row * n + column], numbers[&(tile, row * n + column)]);
                    assert_eq!(
                        got.to_bits(),
                        want.to_bits(),
                        "({row}, {column}) of {m} x {n} x {k} on {clusters}: {got} and {want}"
                    );
                }
            }
        }
    }
}
