//! The naive CuTe GEMM that the project started from: its printed layouts, its bank conflicts, and
//! its result.

use falchion::{
    layout::algebra::{Layout, LayoutError},
    shape::Mnk,
};
use falchion_lab::layout::cute_gemm::{CuteGemm, Part};
use std::collections::BTreeSet;

/// M = N = 1024, K = 8192, BM = BN = 64, BK = 16, TM = TN = 8.
fn seed() -> CuteGemm {
    CuteGemm::new(Mnk::new(1024, 1024, 8192), Mnk::new(64, 64, 16), (8, 8))
        .expect("tiles that divide")
}

#[test]
fn layouts_equal_the_printed_ones() -> Result<(), LayoutError> {
    let (gemm, text) = (seed(), |part: &Part| part.0.to_string());
    assert_eq!(gemm.blocks(), (16, 16));
    assert_eq!(
        gemm.matrices()?.map(|layout| layout.to_string()),
        ["(1024,8192):(_1,1024)", "(1024,8192):(_1,1024)", "(1024,1024):(_1,1024)"]
    );
    assert_eq!(gemm.copiers()?.to_string(), "(_64,_1):(_1,_0)");
    assert_eq!(gemm.threads()?.to_string(), "(_8,_8):(_1,_8)");
    let block = gemm.block((3, 5))?;
    assert_eq!(
        [text(&block.gA), text(&block.gB)],
        ["(_64,_16,512):(_1,1024,16384)", "(_64,_16,512):(_1,1024,16384)"]
    );
    assert_eq!(text(&block.gC), "(_64,_64):(_1,1024)");
    assert_eq!((block.gA.1, block.gB.1, block.gC.1), (3 * 64, 5 * 64, 3 * 64 + 5 * 64 * 1024));
    assert_eq!(
        [block.sA.to_string(), block.sB.to_string()],
        ["(_64,_16):(_1,_64)", "(_64,_16):(_1,_64)"]
    );
    for thread in [0, 1, 19, 63] {
        let parts = gemm.thread((3, 5), thread)?;
        assert_eq!(
            [text(&parts.tAgA), text(&parts.tBgB)],
            ["(_1,_16,512):(_0,1024,16384)", "(_1,_16,512):(_0,1024,16384)"]
        );
        assert_eq!(
            [text(&parts.tAsA), text(&parts.tBsB)],
            ["(_1,_16):(_0,_64)", "(_1,_16):(_0,_64)"]
        );
        assert_eq!(
            [text(&parts.tCsA), text(&parts.tCsB), text(&parts.tCgC)],
            ["(_8,_16):(_8,_64)", "(_8,_16):(_8,_64)", "(_8,_8):(_8,8192)"]
        );
        assert_eq!(
            (parts.tCsA.1, parts.tCsB.1),
            (thread % 8, thread / 8),
            "rows by the remainder, columns by the quotient"
        );
    }
    Ok(())
}

/// Returns the wavefronts of 32 loads of 4 bytes: the maximum number of distinct words in one bank.
fn wavefronts(words: impl Iterator<Item = u64>) -> usize {
    let distinct: BTreeSet<u64> = words.collect();
    (0..32).map(|bank| distinct.iter().filter(|word| *word % 32 == bank).count()).max().unwrap_or(0)
}

/// The walk-through gives thread t the rows `(t % 8) * 8 + m`, and calls that a 4-way conflict. It
/// takes 2 wavefronts. Its printed layout gives the thread the rows `t % 8 + 8 * m`, which takes 1.
#[test]
fn bank_conflicts_at_their_true_values() -> Result<(), LayoutError> {
    let formula: Layout = "(_8,_16):(_1,_64)".parse()?;
    for (m, k) in (0..8).flat_map(|m| (0..16).map(move |k| (m, k))) {
        let at = formula.offset([m, k])?;
        assert_eq!(wavefronts((0..32).map(|t| t % 8 * 8 + at)), 2);
        let words = |part: fn(CuteGemm, u64) -> Result<Part, LayoutError>| {
            (0..32)
                .map(|t| {
                    part(seed(), t).and_then(|(layout, begin)| Ok(begin + layout.offset([m, k])?))
                })
                .collect::<Result<Vec<_>, _>>()
        };
        let a = words(|gemm, t| Ok(gemm.thread((0, 0), t)?.tCsA))?;
        let b = words(|gemm, t| Ok(gemm.thread((0, 0), t)?.tCsB))?;
        assert_eq!(wavefronts(a.into_iter()), 1);
        assert_eq!(b.iter().collect::<BTreeSet<_>>().len(), 4, "eight threads read one word of B");
        assert_eq!(wavefronts(b.into_iter()), 1);
    }
    Ok(())
}

#[test]
fn the_gemm_is_correct_thread_by_thread() -> Result<(), LayoutError> {
    let (m, n, k) = (128usize, 192usize, 48usize);
    let gemm = CuteGemm::new(Mnk::new(m as u32, n as u32, k as u32), Mnk::new(64, 64, 16), (8, 8))?;
    let draw =
        |count: usize, by: usize| (0..count).map(|i| (i * by % 23) as i64 - 11).collect::<Vec<_>>();
    let (a, b, mut c) = (draw(m * k, 7), draw(n * k, 5), vec![i64::MIN; m * n]);
    gemm.run(&a, &b, &mut c)?;
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let expected: i64 = (0..k).map(|l| a[i + l * m] * b[j + l * n]).sum();
        assert_eq!(c[i + j * m], expected, "({i}, {j})");
    }
    Ok(())
}

#[test]
fn indivisible_layouts_are_refused() {
    let refused = |problem, tile, thread| {
        CuteGemm::new(problem, tile, thread).expect_err("refused").to_string()
    };
    let tile = Mnk::new(64, 64, 16);
    assert_eq!(
        refused(Mnk::new(100, 64, 16), tile, (8, 8)),
        "M is 100, and 64 does not divide it; try 64"
    );
    assert_eq!(refused(Mnk::new(64, 64, 0), tile, (8, 8)), "an extent is 0, and the least is 1");
    let gemm = seed();
    assert_eq!(
        gemm.thread((0, 0), 64).expect_err("64 threads").to_string(),
        "the threads (_64,_1):(_1,_0) have no thread 64"
    );
    assert!(gemm.block((16, 0)).is_err());
    assert!(matches!(
        gemm.run(&[0i64; 3], &[0; 3], &mut [0; 3]),
        Err(LayoutError::TensorTooShort { .. })
    ));
}
