//! Split-K: the order in which slices are added, the refusals, and the memory of the partials.

use crate::harness::{decompositions::slice_ranges, descriptions::cut_in_parallel, prelude::*};

pub(super) fn assert_same_bits(found: f32, wanted: f32, slices: usize) {
    assert_eq!(found.to_bits(), wanted.to_bits(), "{slices} slices: {found} and {wanted}");
}

/// Computes one element of D.
pub(super) fn one_element<T: MathType, C: MathType>(
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
    for (mma, arch) in
        [(WarpMmaKind::MmaSync, ArchKind::Sm80), (WarpMmaKind::Wgmma, ArchKind::Sm90)]
    {
        check_rows::<Bf16>(("bf16", op_of(mma), arch), Bf16::from_f32);
    }
}

/// Checks that rows of D do not depend on the number of rows.
pub(super) fn check_rows<E: MathType>(
    (kind, op, arch): (&str, OpKind, ArchKind),
    number: impl Fn(f32) -> E::Storage + Copy,
) where
    E::Storage: bytemuck::Pod,
{
    for slices in [1, 3] {
        let types = ["row", "col", "row"].map(|order| format!("{kind}:{order}"));
        let knobs = [("decomposition", "splitk"), ("split_k", &slices.to_string())];
        let desc = described(types.each_ref().map(|types| &types[..]), (op, arch), &knobs);
        let of = |m| rows::<E>(&desc, m, number);
        for other in [66, 257, 640] {
            assert!(of(65) == of(other), "{other} rows, {slices} slices: {desc:?}");
        }
    }
}

/// Returns the first 65 rows of D of a GEMM with `m` rows.
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
            assert!(
                slots < with_tickets && launch.clear.iter().all(Option::is_none),
                "{parallel:?}"
            );
            assert!(alone.clear[0].is_some() && alone.reduction.is_none(), "{split:?}");
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
