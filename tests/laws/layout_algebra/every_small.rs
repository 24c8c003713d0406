//! Every small layout, and a million pairs: compositions equal the composition of the functions,
//! and a refusal is confirmed by a search for the layout.

use crate::harness::prelude::*;
use falchion::layout::algebra::Mode;

/// Layouts of one mode with extents 1 to 6 and strides 0 to 12, then those of two such modes.
fn every_small_layout() -> impl Iterator<Item = Layout> {
    let mode = || (1..=6u64).flat_map(|s| (0..=12u64).map(move |d| (s, d)));
    let one = mode().map(|(s, d)| Layout::new(s, d));
    let two = mode().flat_map(move |(s, d)| mode().map(move |(t, e)| Layout::new([s, t], [d, e])));
    one.chain(two).map(|layout| layout.expect("a small layout"))
}

/// Returns whether `values`, which begin with 0, are the offsets of a layout. Tries every first
/// mode.
fn is_layout(values: &[u64]) -> bool {
    let n = values.len();
    n <= 1
        || (2..=n).filter(|e| n.is_multiple_of(*e)).any(|e| {
            let first = (0..e).all(|c| values[c] == c as u64 * values[1]);
            let adds = || (0..n).all(|i| values[i] == values[i % e] + values[i - i % e]);
            first && adds() && is_layout(&values.iter().copied().step_by(e).collect::<Vec<_>>())
        })
}

/// Returns whether some layout with the shape of `b`, with each leaf refined, is the function
/// `c -> a(b(c))`.
fn composition_exists(a: &Layout, b: &Layout) -> bool {
    let leaf = |mode: &Mode| -> Vec<u64> {
        (0..mode.extent.value).map(|c| a.extended(c * mode.stride.value).expect("small")).collect()
    };
    let leaves: Vec<Vec<u64>> = b.leaves().iter().map(leaf).collect();
    let adds = (0..b.size()).all(|i| {
        let part = |(sum, rest): (u64, usize), values: &Vec<u64>| {
            (sum + values[rest % values.len()], rest / values.len())
        };
        let (sum, _) = leaves.iter().fold((0, i as usize), part);
        sum == a.extended(b.extended(i).expect("small")).expect("small")
    });
    adds && leaves.iter().all(|values| is_layout(values))
}

/// Numbers of compositions that are layouts, and of those that are not.
#[derive(Default, Debug)]
struct Count {
    accepted: u64,
    refused: u64,
}

impl Count {
    /// Compares one composition with the functions.
    fn compose(&mut self, a: &Layout, b: &Layout) {
        match a.compose(b) {
            Ok(composed) => {
                self.accepted += 1;
                for c in 0..b.size() {
                    let expected = a.extended(b.extended(c).expect("small")).expect("small");
                    assert_eq!(composed.extended(c), Ok(expected), "{a} o {b} = {composed} at {c}");
                }
            }
            Err(refusal) => {
                self.refused += 1;
                assert!(
                    !composition_exists(a, b),
                    "{a} o {b} is a layout, and was refused: {refusal}"
                );
            }
        }
    }

    /// At least 30 % are layouts, and at least 30 % are not.
    fn is_balanced(&self) {
        let all = self.accepted + self.refused;
        assert!(self.accepted * 10 >= all * 3 && self.refused * 10 >= all * 3, "{self:?}");
    }
}

/// For every small A, and for B with one or two small modes: `A o B` is `A(B(c))`, and it is
/// refused only if no layout exists.
#[test]
fn every_small_layout_composes_or_no_layout_exists() {
    let few: Vec<Layout> = every_small_layout()
        .enumerate()
        .filter(|(i, b)| b.rank() == 1 || i % 61 == 0)
        .map(|(_, b)| b)
        .collect();
    let mut count = Count::default();
    for a in every_small_layout() {
        for b in &few {
            count.compose(&a, b);
        }
    }
    println!("{} right operands, {count:?}", few.len());
    assert_eq!(count.accepted + count.refused, 6162 * few.len() as u64);
}

/// For every small layout, coalescing, complement, and both inverses satisfy their laws, and the
/// text parses.
#[test]
fn every_small_layout_satisfies_the_laws() {
    let (mut inverted, mut folded) = (0, 0);
    for layout in every_small_layout() {
        let offsets = |layout: &Layout| {
            (0..layout.size())
                .map(|i| layout.extended(i))
                .collect::<Result<Vec<_>, _>>()
                .expect("small")
        };
        let values = offsets(&layout);
        assert_eq!(offsets(&layout.coalesce()), values);
        assert_eq!(layout.to_string().parse::<Layout>().as_ref(), Ok(&layout));
        for (i, at) in offsets(&layout.right_inverse()).into_iter().enumerate() {
            assert_eq!(layout.offset(at), Ok(i as u64), "{layout}");
        }
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let injective = sorted.windows(2).all(|pair| pair[0] < pair[1]);
        match (layout.left_inverse(), layout.complement(layout.cosize())) {
            (Ok(inverse), Ok(rest)) => {
                inverted += 1;
                assert!(
                    values
                        .iter()
                        .enumerate()
                        .all(|(i, offset)| inverse.offset(*offset) == Ok(i as u64)),
                    "{layout}"
                );
                let mut both = offsets(&Layout::concat([layout.clone(), rest]).expect("small"));
                both.sort_unstable();
                assert_eq!(both, (0..both.len() as u64).collect::<Vec<_>>(), "{layout}");
            }
            (Err(LayoutError::NotInjective { .. }), _) => {
                folded += 1;
                assert!(!injective, "{layout}");
            }
            (Err(_), Err(LayoutError::ComplementDivisibility { .. })) => {
                assert!(injective, "{layout}")
            }
            other => panic!("{layout}: {other:?}"),
        }
    }
    println!("{inverted} inverted, {folded} not injective");
    assert!(inverted > 500 && folded > 500);
}

/// A fixed set of a million pairs of layouts of one to three modes: `A o B` is `A(B(c))`, and it is
/// refused only if no layout exists. At least 30 % are accepted, and at least 30 % are refused.
#[test]
fn a_million_pairs_compose_or_no_layout_exists() {
    const PAIRS: u64 = 1_000_000;
    let mut count = Count::default();
    let mut at = 0;
    let mut next = |below: u64| {
        at += 1;
        draw(4, at) % below
    };
    for _ in 0..PAIRS {
        let mut layout = |strides: u64| {
            let rank = 1 + next(3);
            let shape: Vec<u64> = (0..rank).map(|_| 1 + next(6)).collect();
            let stride: Vec<u64> = (0..rank).map(|_| next(strides)).collect();
            let leaves =
                shape.into_iter().zip(stride).map(|(s, d)| Layout::new(s, d).expect("a mode"));
            Layout::concat(leaves).expect("a small layout")
        };
        let (a, b) = (layout(13), layout(7));
        count.compose(&a, &b);
    }
    println!("{count:?}");
    assert_eq!(count.accepted + count.refused, PAIRS);
    count.is_balanced();
}

/// The laws above need their checks: composition by CuTe's rounded division, without a check, often
/// differs from the composition of the functions. In exactly these cases `compose` refuses, or
/// finds other modes.
#[test]
fn composing_without_the_checks_is_another_function() {
    let rounded = |a: (u64, u64, u64, u64), s: u64, d: u64| -> Vec<u64> {
        let (s0, s1, d0, d1) = a;
        let run = s0.div_ceil(d).min(s);
        let _ = s1;
        (0..s).map(|c| c % run * d * d0 + c / run * d.div_ceil(s0) * d1).collect()
    };
    let mut wrong = 0;
    for (s0, d) in (2..=6u64).flat_map(|s| (1..=6u64).map(move |d| (s, d))) {
        let a = Layout::new([s0, 6], [1, 100]).expect("small");
        let functions: Vec<u64> = (0..4).map(|c| a.extended(c * d).expect("small")).collect();
        let composed = a.compose(&Layout::new(4, d).expect("a mode"));
        if rounded((s0, 6, 1, 100), 4, d) != functions {
            wrong += 1;
            assert!(
                s0 % d != 0 && d % s0 != 0 || (s0 / d).max(1) > 1 && !4u64.is_multiple_of(s0 / d),
                "{s0} {d}"
            );
        }
        if let Ok(composed) = composed {
            assert_eq!(
                (0..4).map(|c| composed.extended(c).expect("small")).collect::<Vec<_>>(),
                functions
            );
        }
    }
    assert!(wrong > 3, "{wrong}");
}
