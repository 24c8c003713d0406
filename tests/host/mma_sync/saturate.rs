//! Saturating integer sums: after each instruction, and in the sums of warp slices and of split-K
//! slices.

use crate::harness::{prelude::*, product::computed};

const MODES: [Mode; 2] = [Mode::Fast, Mode::Checked { seed: 11 }];
/// Rows and columns of D.
const EXTENTS: [usize; 2] = [3, 5];

fn byte_kernel(kind: &str, arch: ArchKind, knobs: &[(&str, &str)]) -> GemmDesc {
    let (a, b) = (format!("{kind}:row"), format!("{kind}:col"));
    described([&a, &b, "i32:row"], (OpKind::TensorOp, arch), knobs)
}

fn product<T: MathType>(
    desc: &GemmDesc,
    mode: Mode,
    k: usize,
    operands: [&[T::Storage]; 2],
) -> Vec<i32> {
    computed::<T, i32>(desc, desc, mode, (EXTENTS[0], EXTENTS[1], k), (operands, -7))
}

const fn clamped(sum: i64) -> i64 {
    if sum > i32::MAX as i64 {
        i32::MAX as i64
    } else if sum < i32::MIN as i64 {
        i32::MIN as i64
    } else {
        sum
    }
}

/// Returns the sum of an element's products in a second model: the sum saturates after each
/// instruction, after each warp slice, and after each split-K slice.
fn wanted(desc: &GemmDesc, products: &[i64]) -> i32 {
    let (tile, warp) = (desc.threadblock().k as usize, desc.warp().k as usize);
    let instruction = desc.pins().instruction.expect("warps multiply").k as usize;
    let (tiles, split_k) = (products.len().div_ceil(tile), desc.split_k() as usize);
    let mut begin = 0;
    let split_k_slice = |slice: usize| {
        let count = tiles / split_k + usize::from(slice < tiles % split_k);
        let range = begin..begin + count;
        begin += count;
        let warp_slice = |slice: usize| {
            let firsts = range.clone().flat_map(|of| {
                (0..warp).step_by(instruction).map(move |k| of * tile + slice * warp + k)
            });
            firsts.fold(0, |sum, first| {
                clamped(sum + products.iter().skip(first).take(instruction).sum::<i64>())
            })
        };
        (1..tile / warp).fold(warp_slice(0), |sum, other| clamped(sum + warp_slice(other)))
    };
    eight_by_eight((0..split_k).map(split_k_slice).collect(), |x, y| clamped(x + y)) as i32
}

/// Returns the elements (mn, k) of an operand. The products have one sign until their sum is out of
/// range, and then the other sign. The saturated sum therefore differs both from the wrapped sum
/// and from the exact sum clamped once.
fn bytes(operand: usize, length: usize, k: usize, beyond: usize) -> Vec<i8> {
    let element = |mn: usize, k: usize| match (operand, k < beyond) {
        (0, true) => [-128, 127, -128 + (k % 7) as i8][mn % 3],
        (0, false) => [127, -128, -(k as i8 % 3)][mn % 3],
        (_, _) => [-128, 127, -128, 126, (k % 5) as i8 - 127][mn % 5],
    };
    (0..length * k).map(|at| element(at / k, at % k)).collect()
}

/// Compares D in each mode with the second model. Returns the number of elements that differ from a
/// wrapped sum, and from a sum that is clamped once.
fn compare_with_model<T: MathType<Storage = T> + Copy + Into<i64>>(
    desc: &GemmDesc,
    modes: &[Mode],
    k: usize,
    [a, b]: [&[T]; 2],
) -> [usize; 2] {
    assert_eq!(desc.pins().saturate, Some(SaturateKind::On));
    let of = |i: usize, j: usize| {
        (0..k).map(|l| a[i * k + l].into() * b[j * k + l].into()).collect::<Vec<i64>>()
    };
    let products: Vec<_> =
        (0..EXTENTS[0]).flat_map(|i| (0..EXTENTS[1]).map(move |j| of(i, j))).collect();
    let expected: Vec<i32> = products.iter().map(|products| wanted(desc, products)).collect();
    for &mode in modes {
        assert_eq!(product::<T>(desc, mode, k, [a, b]), expected, "{mode:?} of {desc:?}");
    }
    let wraps = desc.pinned(Pins { saturate: Some(SaturateKind::Off), ..Pins::NONE });
    let sums: Vec<i64> = products.iter().map(|products| products.iter().sum()).collect();
    assert_eq!(
        product::<T>(&wraps, Mode::Fast, k, [a, b]),
        sums.iter().map(|&sum| sum as i32).collect::<Vec<_>>()
    );
    let others = |other: fn(i64) -> i64| {
        (0..sums.len()).filter(|&at| other(sums[at]) as i32 != expected[at]).count()
    };
    [others(|sum| sum), others(clamped)]
}

#[test]
fn sums_saturate_after_each_instruction() {
    let (beyond, k) = (135_200, 151_000);
    let [a, b] = [0, 1].map(|operand| bytes(operand, EXTENTS[operand], k, beyond));
    for (arch, tile, warp, instruction, mainloop, modes) in [
        (ArchKind::Sm80, "16x8x64", "16x8x64", "16x8x32", "multistage", &MODES[..]),
        (ArchKind::Sm80, "16x16x64", "16x8x64", "16x8x16", "multistage", &MODES[..1]),
        (ArchKind::Sm75, "16x8x32", "16x8x32", "8x8x16", "pipelined", &MODES[..1]),
        (ArchKind::Sm90, "32x32x64", "32x32x64", "16x8x32", "multistage", &MODES[..1]),
    ] {
        let knobs = [
            ("saturate", "on"),
            ("threadblock", tile),
            ("warp", warp),
            ("instruction", instruction),
            ("mainloop", mainloop),
            ("stages", "2"),
            ("align_a", "8"),
            ("align_b", "8"),
            ("align_c", "1"),
        ];
        let desc = byte_kernel("i8", arch, &knobs);
        let [wrap, once] = compare_with_model::<i8>(&desc, modes, k, [&a, &b]);
        assert!(
            wrap >= 8 && once >= 8,
            "{wrap} elements differ from wrapped sums, {once} from clamped sums: {tile} on {arch}"
        );
    }
}

/// The sum of one warp slice is out of range in the other direction, and the sum of each split-K
/// slice is at a limit of the range.
#[test]
fn sums_of_warp_slices_and_of_split_k_slices_saturate() {
    let k = 34_000;
    let a = vec![255u8; EXTENTS[0] * k];
    let b: Vec<u8> = (0..EXTENTS[1] * k).map(|at| 255 - (at / k) as u8).collect();
    let stages = MULTISTAGE_OR_OTHER[0].fixed_stages().unwrap_or(3).to_string();
    let small = [
        ("saturate", "on"),
        ("threadblock", "16x8x64"),
        ("warp", "16x8x32"),
        ("instruction", "16x8x16"),
        ("stages", &stages),
        ("align_c", "1"),
    ];
    let sliced_k = byte_kernel("u8", ArchKind::Sm80, &small);
    let [wrap, _] = compare_with_model::<u8>(&sliced_k, &MODES, k, [&a, &b]);
    assert!(wrap >= 9, "{wrap} elements differ from wrapped sums");
    let split_k = sliced_k.pinned(Pins { split_k: Some(3), ..Pins::NONE });
    let [wrap, _] = compare_with_model::<u8>(&split_k, &MODES, k, [&a, &b]);
    assert!(wrap >= 9, "{wrap} elements differ from wrapped sums");
    // Split-K slices at both limits of the range.
    let (beyond, k) = (140_000, 280_000);
    let [a, b] = [0, 1].map(|operand| bytes(operand, EXTENTS[operand], k, beyond));
    let split_k = byte_kernel(
        "i8",
        ArchKind::Sm80,
        &[&small[..], &[("split_k", "12"), ("align_a", "8"), ("align_b", "8")]].concat(),
    );
    let [wrap, once] = compare_with_model::<i8>(&split_k, &MODES[..1], k, [&a, &b]);
    assert!(
        wrap >= 4 && once >= 2,
        "{wrap} elements differ from wrapped sums, {once} from clamped sums"
    );
}
