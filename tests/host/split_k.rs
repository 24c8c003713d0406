//! Split-K: the order in which slices are added, the refusals, and the memory of the partials.

use crate::harness::{decompositions::slice_ranges, descriptions::cut_in_parallel, prelude::*};

/// Returns a description with row-major A and D, column-major B, and one element type. Its k-tiles
/// have a depth of 8, and K has `slices` split-K slices.
fn split(kind: &str, slices: u32) -> GemmDesc {
    operation(kind, slices).desc()
}

fn operation(kind: &str, slices: u32) -> GemmOperation {
    let types = ["row", "col", "row"].map(|order| format!("{kind}:{order}"));
    let knobs = [("threadblock", "64x64x8"), ("split_k", &slices.to_string())];
    let request = request(types.each_ref().map(|types| &types[..]), &knobs);
    GemmOperation::from_request(&Request { accumulator: kind.parse().ok(), ..request })
        .expect("a kernel")
}

#[test]
fn split_k_slices_are_added_eight_at_a_time() {
    for (slices, k) in
        [(2, 16), (3, 100), (8, 200), (9, 200), (20, 1000), (64, 600), (65, 1041), (256, 2050)]
    {
        let (a, b): (Vec<f32>, Vec<f32>) =
            (0..k).map(|i| (rounding(i), rounding(3 * i + 1))).unzip();
        let chain =
            |range: core::ops::Range<usize>| range.fold(0.0f32, |sum, i| a[i].mul_add(b[i], sum));
        let wanted =
            eight_by_eight(slice_ranges(k, 8, slices).into_iter().map(chain).collect(), |x, y| {
                x + y
            });
        for mode in [Mode::Fast, Mode::Checked { seed: 5 }] {
            let mut d = [f32::NAN];
            run(&split("f32", slices as u32), mode, (&a, &b, &mut d));
            assert_same_bits(d[0], wanted, slices);
        }
    }
}

fn assert_same_bits(found: f32, wanted: f32, slices: usize) {
    assert_eq!(found.to_bits(), wanted.to_bits(), "{slices} slices: {found} and {wanted}");
}

/// Computes one element of D.
fn run<T: MathType<Storage = T> + bytemuck::Pod>(
    desc: &GemmDesc,
    mode: Mode,
    operands: (&[T], &[T], &mut [T]),
) {
    one_element::<T, T>(desc, mode, [operands.0, operands.1], operands.2);
}

fn one_element<T: MathType, C: MathType>(
    desc: &GemmDesc,
    mode: Mode,
    [a, b]: [&[T::Storage]; 2],
    d: &mut [C::Storage],
) {
    let problem = Problem::new(desc, (1, 1, a.len()), [None; 3], PLAIN);
    run_in_mode(desc, mode, problem.with(slices::<T, T, C>(a, b, d))).expect("a product");
}

/// The bits of a row of D do not depend on the number of rows, for each kind of kernel, with and
/// without split-K. Stream-K does not guarantee this, because the number of tiles decides how it
/// divides K.
#[test]
fn rows_do_not_depend_on_other_rows() {
    fn rows<E: MathType>(desc: &GemmDesc, m: usize, number: impl Fn(f32) -> E::Storage) -> Vec<u8>
    where
        E::Storage: bytemuck::Pod,
    {
        let (n, k) = (130, 300);
        let (a, b): (Vec<_>, Vec<_>) = (
            (0..m * k).map(|i| number(rounding(i))).collect(),
            (0..k * n).map(|i| number(rounding(3 * i + 1))).collect(),
        );
        let mut d = vec![number(f32::NAN); m * n];
        let problem = Problem::new(desc, (m, n, k), [None; 3], PLAIN);
        run_in_mode(desc, Mode::Fast, problem.with(slices::<E, E, E>(&a, &b, &mut d)))
            .expect("a product");
        bytemuck::cast_slice(&d[..65 * n]).to_vec()
    }
    for slices in [1, 3] {
        let of = |kind: &str, op, arch, decomposition: &str| {
            let types = ["row", "col", "row"].map(|order| format!("{kind}:{order}"));
            let knobs = [("decomposition", decomposition), ("split_k", &slices.to_string())];
            described(types.each_ref().map(|types| &types[..]), (op, arch), &knobs)
        };
        let simt = of("f32", OpKind::Simt, ArchKind::Sm80, "splitk");
        let on_tensor_cores =
            [(WarpMmaKind::MmaSync, ArchKind::Sm80), (WarpMmaKind::Wgmma, ArchKind::Sm90)]
                .map(|(mma, arch)| of("bf16", op_of(mma), arch, "splitk"));
        for other in [66, 257, 640] {
            assert!(
                rows::<f32>(&simt, 65, |x| x) == rows::<f32>(&simt, other, |x| x),
                "{other} rows, {slices} slices"
            );
            for desc in &on_tensor_cores {
                let of = |m| rows::<Bf16>(desc, m, Bf16::from_f32);
                assert!(of(65) == of(other), "{other} rows, {slices} slices: {desc:?}");
            }
        }
    }
}

/// Slices of f16 are added in f32, and the sum is rounded once. One slice is 2048, and seven slices
/// are 1. The sum of 2055 rounds to 2056 in f16. Additions in f16 would lose each 1.
#[test]
fn f16_slices_are_added_in_f32() {
    let one = |value: f32| F16::from_f32(value);
    let a: Vec<F16> = (0..64)
        .map(|k| {
            one(if k == 0 {
                2048.0
            } else if k % 8 == 0 {
                1.0
            } else {
                0.0
            })
        })
        .collect();
    let b = vec![one(1.0); 64];
    for mode in [Mode::Fast, Mode::Checked { seed: 1 }] {
        let mut d = [one(f32::NAN)];
        run(&split("f16", 8), mode, (&a, &b, &mut d));
        assert_eq!(d[0].to_f32(), 2056.0, "{mode:?}");
    }
}

/// On tensor cores, each slice has the bits of a GEMM with the K range of the slice.
#[test]
fn tensor_core_slices_have_the_bits_of_gemms_of_their_k_range() {
    let operation = |slices: u32, tile: &str| {
        let (types, hopper) = (["bf16:row", "bf16:col", "f32:row"], ArchKind::Sm90);
        let knobs = [("threadblock", tile), ("split_k", &slices.to_string())];
        described(types, (OpKind::TensorOp, hopper), &knobs)
    };
    for (slices, k, tile) in [
        (2, 128, "64x128x64"),
        (3, 300, "128x64x64"),
        (9, 640, "64x64x64"),
        (20, 1300, "128x128x64"),
    ] {
        let (a, b): (Vec<Bf16>, Vec<Bf16>) = (0..k)
            .map(|i| (Bf16::from_f32(rounding(i)), Bf16::from_f32(rounding(3 * i + 1))))
            .unzip();
        let whole = operation(1, tile);
        let of = |range: core::ops::Range<usize>| {
            let mut d = [f32::NAN];
            one_element::<Bf16, f32>(&whole, Mode::Fast, [&a[range.clone()], &b[range]], &mut d);
            d[0]
        };
        let wanted = eight_by_eight(
            slice_ranges(k, 64, slices).into_iter().map(of).collect(),
            |x: f32, y| x + y,
        );
        for mode in [Mode::Fast, Mode::Checked { seed: 3 }] {
            let mut d = [f32::NAN];
            one_element::<Bf16, f32>(&operation(slices as u32, tile), mode, [&a, &b], &mut d);
            assert_same_bits(d[0], wanted, slices);
        }
    }
}

fn typed(slices: u32) -> GemmOperation<f32, f32, f32> {
    operation("f32", slices).typed().expect("f32 operands")
}

/// The division of K depends on neither the batch nor the number of rows. Therefore, a GEMM of a
/// batch and a single row have the bits of separate calls.
#[test]
fn a_gemm_of_a_batch_has_the_bits_of_a_separate_call() {
    let (m, n, k, batch) = (70, 66, 333, 3);
    let (a, b): (Vec<f32>, Vec<f32>) = (
        (0..batch * m * k).map(rounding).collect(),
        (0..batch * n * k).map(|i| rounding(i + 5)).collect(),
    );
    let gemm = typed(5);
    let mut together = vec![f32::NAN; batch * m * n];
    let of = |range: core::ops::Range<usize>| {
        (&a[range.start * m * k..range.end * m * k], &b[range.start * n * k..range.end * n * k])
    };
    let (all_a, all_b) = of(0..batch);
    gemm.run(Arguments::new((m, n, k), all_a, all_b, &mut together[..]).batch(batch))
        .expect("a batch");
    for product in 0..batch {
        let (a, b) = of(product..product + 1);
        let mut alone = vec![f32::NAN; m * n];
        gemm.run(Arguments::new((m, n, k), a, b, &mut alone[..])).expect("a product");
        assert_eq!(alone, together[product * m * n..][..m * n]);
        let mut one_row = vec![f32::NAN; n];
        gemm.run(Arguments::new((1, n, k), &a[..k], b, &mut one_row[..])).expect("a row");
        assert_eq!(one_row, alone[..n]);
    }
}

#[test]
fn refusals_name_the_rule() {
    let gemm = typed(5);
    let (a, b, mut d) = ([1.0f32; 32], [1.0f32; 32], [f32::NAN; 1]);
    let refused =
        gemm.run(Arguments::new((1, 1, 32), &a[..], &b[..], &mut d[..])).expect_err("four k-tiles");
    assert_eq!(
        refused.to_string(),
        "split_k = 5 is outside 1 to 4 (a slice has at least one k-tile); try 4"
    );
    assert!(d[0].is_nan());
    for (slices, least) in [("0", "try 1"), ("257", "try 256"), ("4294967295", "try 256")] {
        let knobs = knobs(&[("split_k", slices)]);
        let said = GemmOperation::from_request(&Request { knobs, ..Request::default() }).message();
        assert!(
            said.starts_with(&format!("split_k = {slices} is outside 1 to 256"))
                && said.contains(least),
            "{said}"
        );
    }
}

/// If K or alpha is 0, split-K does not change D.
#[test]
fn split_k_of_zero_products_stores_beta_c() {
    let gemm = typed(4);
    let mut d = [f32::NAN; 6];
    gemm.run(Arguments::new((2, 3, 0), &[][..], &[][..], &mut d[..])).expect("K = 0");
    assert_eq!(d, [0.0; 6]);
    let (a, b, c) = ([f32::NAN; 4], [f32::NAN; 6], [2.0f32; 6]);
    let arguments = Arguments::new((2, 3, 2), &a[..], &b[..], &mut d[..]);
    gemm.run(arguments.alpha(0.0).source(0.5, &c[..])).expect("alpha = 0");
    assert_eq!(d, [1.0; 6]);
}

/// A kernel with narrower accesses replaces another kernel, and may have smaller tiles. Its slots
/// and tickets fit into the workspace of the kernel that it replaces.
#[test]
fn workspace_holds_the_partials_of_a_kernel_with_narrower_accesses() {
    for kernel_kind in [KernelKind::Simt, KernelKind::MmaSync] {
        for seed in 0..300 {
            let drawn =
                description(0x5b17_0000 + seed, Wanted { kernel_kind, ..Wanted::default() });
            let desc = drawn.pinned(Pins { split_k: Some(2 + (seed % 9) as u32), ..Pins::NONE });
            let tile = desc.threadblock();
            for (down, across, batch) in [(1, 1, 1), (13, 40, 2), (300, 270, 1)] {
                let (m, n) = (down * tile.m as usize - 3, across * tile.n as usize - 1);
                let given = Partials::new(&desc, (m, n), batch);
                for narrow in [desc.narrowed([2; 3]), desc.narrowed([1; 3])] {
                    let problem = Problem {
                        batch,
                        ..Problem::new(&narrow, (m, n, 4096), [None; 3], [1.0; 8])
                    };
                    let (taken, _) = Partials::for_launch(&narrow, &problem, 1);
                    assert!(
                        taken.bytes() > 0 && taken.bytes() <= given.bytes(),
                        "{m}x{n} of {desc:?}"
                    );
                }
            }
        }
    }
}

/// If a second kernel adds the slices, there are no tickets, and no memset clears them. The second
/// kernel has one CTA per access of the threads of each tile.
#[test]
fn a_second_kernel_reduces_without_tickets() {
    for kernel_kind in [KernelKind::Simt, KernelKind::MmaSync, KernelKind::WgmmaRing] {
        let mut seen = 0;
        for seed in 0..200 {
            let drawn =
                description(0x9a7a_0000 + seed, Wanted { kernel_kind, ..Wanted::default() });
            let Some([split, parallel]) = cut_in_parallel(drawn, 2 + (seed % 9) as u32) else {
                continue;
            };
            let (tile, threads) = (split.threadblock(), split.threads());
            let problem = |desc: &GemmDesc| {
                Problem::new(
                    desc,
                    (tile.m as usize * 3, tile.n as usize * 2, 40_000),
                    [None; 3],
                    [1.0; 8],
                )
            };
            let launched = |desc: &GemmDesc| {
                let problem = problem(desc).enter(desc).expect("it fits");
                let bytes = Partials::new(desc, (problem.m, problem.n), 1).bytes();
                let problem = Problem { workspace: Some(Elements::ALL), ..problem };
                let launch =
                    desc.plan().expect("a plan").launch(&problem, &desc.geometry(), 1).ok()?;
                let across = |extent: usize, tile: u32, blocks: u32| {
                    (extent as u32).div_ceil(tile).next_multiple_of(blocks)
                };
                let cluster = desc.cluster();
                let tiles =
                    across(problem.m, tile.m, cluster.m) * across(problem.n, tile.n, cluster.n);
                Some((bytes, tiles, launch))
            };
            // Descriptions whose operands need a pass are skipped.
            let (Some((slots, tiles, launch)), Some((with_tickets, _, alone))) =
                (launched(&parallel), launched(&split))
            else {
                continue;
            };
            assert!(slots < with_tickets && launch.clear.is_none(), "{parallel:?}");
            assert!(alone.clear.is_some() && alone.reduction.is_none(), "{split:?}");
            // The grid covers each accumulator of each tile of the rectangles exactly once.
            let grid = launch.reduction.expect("a second kernel");
            let each = (tile.m * tile.n) / (grid.clusters / tiles * grid.threads);
            assert_eq!(
                (grid.clusters % tiles, each * grid.clusters * grid.threads),
                (0, tiles * tile.m * tile.n),
                "{parallel:?}"
            );
            assert!(
                matches!(each, 1 | 2 | 4 | 8) && grid.threads <= threads && grid.shared_bytes == 0,
                "{parallel:?} {grid:?}"
            );
            seen += 1;
        }
        assert!(seen > 100, "{kernel_kind:?}: {seen}");
    }
}

/// Each split-K slice of a tile has a slot. Each eight slices have a ticket, and so has each eight
/// sums: 20 slices have three tickets on the first level and one on the second.
#[test]
fn the_workspace_has_slots_and_tickets() {
    let bytes = |kind, slices, extents| {
        let desc = split(kind, slices);
        desc.routes(&Problem::new(&desc, extents, [None; 3], [1.0; 8]))
            .expect("a kernel")
            .workspace_bytes()
    };
    let slot = 64 * 64 * 4;
    assert_eq!(bytes("f32", 1, (100, 100, 1000)), 0);
    assert_eq!(bytes("f32", 20, (100, 100, 1000)), 4 * 20 * slot + 256 + 256);
    assert_eq!(bytes("f16", 20, (100, 100, 1000)), 4 * 20 * slot + 256 + 256);
    assert_eq!(bytes("f64", 20, (100, 100, 1000)), 4 * 20 * slot * 2 + 256 + 256);
    // Space for four times the tiles, because a kernel with narrower accesses may have tiles of a
    // quarter of the size.
    let tickets = (4 * 10_000 * 4 * 4u64).next_multiple_of(256);
    assert_eq!(bytes("f32", 20, (6400, 6400, 1000)), 10_000 * 20 * slot + tickets + 256);
    assert_eq!(bytes("f32", 20, (0, 100, 1000)), 0);
}
