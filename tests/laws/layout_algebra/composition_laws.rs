//! Laws of layouts as functions, and of their composition. `|L|` is the size, `L(i)` the offset of
//! an integer.

use super::random_layouts::{any_layout, bijection, cases, offsets};
use crate::harness::prelude::*;
use proptest::prelude::*;

/// The layout `n:1`.
fn identity(n: u64) -> Layout {
    Layout::new(n, 1).expect("n:1")
}

/// Returns whether the modes of `outer` refine each leaf of `inner`: CuTe's `compatible`.
fn refines(outer: &Layout, inner: &Layout) -> bool {
    if inner.depth() == 0 {
        return outer.size() == inner.size();
    }
    outer.rank() == inner.rank()
        && outer.depth() > 0
        && outer.modes().iter().zip(inner.modes()).all(|(o, i)| refines(o, i))
}

proptest! {
    #![proptest_config(cases())]

    /// `parse(print(L)) = L`.
    #[test]
    fn printed_and_parsed(layout in any_layout()) {
        prop_assert_eq!(layout.to_string().parse::<Layout>(), Ok(layout));
    }

    /// `L(c(i)) = L(i)` for the coordinate `c(i)` of the integer `i`, and `c` is nested like the
    /// shape.
    #[test]
    fn an_integer_and_its_coordinate_have_one_offset(layout in any_layout(), i in any::<u64>()) {
        let i = i % layout.size();
        let coordinate = layout.coordinate(i)?;
        prop_assert_eq!(layout.offset(coordinate)?, layout.offset(i)?);
    }

    /// `L((c_0, c_1, ..)) = L_0(c_0) + L_1(c_1) + ..`.
    #[test]
    fn modes_add(layout in any_layout(), i in any::<u64>()) {
        let at: Vec<u64> = layout.modes().iter().map(|mode| i % mode.size()).collect();
        let sum: u64 = layout.modes().iter().zip(&at).map(|(mode, c)| mode.offset(*c).unwrap_or(u64::MAX)).sum();
        let whole = match layout.depth() {
            0 => layout.offset(at[0])?,
            _ => layout.offset(Coordinate::Tuple(at.into_iter().map(Coordinate::At).collect()))?,
        };
        prop_assert_eq!(whole, sum);
    }

    /// `cosize(L) = 1 + max L(i)`, and the extended function is equal below the size.
    #[test]
    fn cosize_is_the_largest_offset_plus_one(layout in any_layout()) {
        let offsets = offsets(&layout);
        prop_assert_eq!(offsets.iter().max().map(|last| last + 1), Some(layout.cosize()));
        for (i, offset) in offsets.iter().enumerate() {
            prop_assert_eq!(layout.extended(i as u64)?, *offset);
        }
    }

    /// `coalesce(L)(i) = L(i)`, `depth <= 1`, no two neighbors can be joined, and coalescing again
    /// changes nothing.
    #[test]
    fn coalescing_keeps_the_function(layout in any_layout()) {
        let short = layout.coalesce();
        prop_assert_eq!(offsets(&short), offsets(&layout));
        prop_assert!(short.depth() <= 1 && short.coalesce() == short);
        for pair in short.leaves().windows(2) {
            prop_assert!(pair[0].extent.value * pair[0].stride.value != pair[1].stride.value && pair[0].extent.value > 1);
        }
    }

    /// Two layouts are the same function if and only if they coalesce to the same modes.
    #[test]
    fn coalesced_layouts_are_functions(a in any_layout(), b in any_layout()) {
        let leaves = |layout: &Layout| layout.coalesce().leaves();
        let values = |layout: &Layout| leaves(layout).iter().map(|leaf| (leaf.extent.value, leaf.stride.value)).collect::<Vec<_>>();
        prop_assert_eq!(offsets(&a) == offsets(&b), values(&a) == values(&b));
    }

    /// `coalesce(L, (1,..,1)) = (coalesce(L_0), coalesce(L_1), ..)`: the same function with the
    /// same rank.
    #[test]
    fn coalescing_by_mode_keeps_the_rank(layout in any_layout()) {
        let profile = IntTuple::Tuple(vec![1.into(); layout.rank()]);
        let short = layout.coalesce_by(&profile)?;
        prop_assert_eq!(offsets(&short), offsets(&layout));
        prop_assert_eq!(short.modes(), layout.modes().iter().map(Layout::coalesce).collect::<Vec<_>>());
    }

    /// `flatten(L)(i) = L(i)`, with the same leaves in the same order.
    #[test]
    fn flattening_keeps_the_function(layout in any_layout()) {
        let flat = layout.flatten();
        prop_assert_eq!(offsets(&flat), offsets(&layout));
        prop_assert!(flat.depth() <= 1 && flat.leaves() == layout.leaves());
    }

    /// `(A o B)(c) = A(B(c))` for every `c` of B, and every coordinate of B is a coordinate of
    /// `A o B`.
    #[test]
    fn composition_equals_that_of_functions(a in any_layout(), b in any_layout()) {
        if let Ok(composed) = a.compose(&b) {
            for c in 0..b.size() {
                prop_assert_eq!(composed.offset(c)?, a.extended(b.offset(c)?)?);
            }
            prop_assert!(refines(&composed, &b));
        }
    }

    /// Each leaf of `A o B` is coalesced, so coalescing does not shorten it.
    #[test]
    fn composed_leaves_are_coalesced(a in any_layout(), s in 1u64..25, d in 0u64..13) {
        if let Ok(composed) = a.compose(&Layout::new(s, d)?) {
            prop_assert_eq!(composed.leaves().len(), composed.coalesce().leaves().len());
        }
    }

    /// `((A o B) o C)(i) = A(B(C(i))) = (A o (B o C))(i)` if the inner compositions exist,
    /// `cosize(C) <= |B|`, and `cosize(B) <= |A|`. One outer composition may be a layout although
    /// the other is not. `B o C` may be finer than C, and its shorter modes must be disjoint, as in
    /// `one_side_may_be_no_layout`.
    #[test]
    fn composition_is_associative(a in any_layout(), b in any_layout(), c in any_layout()) {
        prop_assume!(b.cosize() <= a.size() && c.cosize() <= b.size());
        if let (Ok(ab), Ok(bc)) = (a.compose(&b), b.compose(&c)) {
            let function = (0..c.size()).map(|i| a.extended(b.offset(c.offset(i)?)?)).collect::<Result<Vec<_>, LayoutError>>()?;
            for side in [ab.compose(&c), a.compose(&bc)].into_iter().flatten() {
                prop_assert_eq!(offsets(&side), &function[..]);
            }
        }
    }

    /// `I o B = B`, for the identity `I = n:1` and any B.
    #[test]
    fn the_identity_is_neutral_on_the_left(b in any_layout()) {
        let composed = identity(b.cosize()).compose(&b)?;
        prop_assert_eq!(offsets(&composed), offsets(&b));
        prop_assert_eq!(composed.rank(), b.rank());
    }

    /// `A o I = coalesce(A)`, for the identity `I = |A|:1`.
    #[test]
    fn the_identity_on_the_right_coalesces(a in any_layout()) {
        prop_assert_eq!(offsets(&a.compose(&identity(a.size()))?), offsets(&a));
    }

    /// `A o (B_0, B_1) = (A o B_0, A o B_1)` if the left side exists.
    #[test]
    fn composition_distributes_over_concatenation(a in any_layout(), b in any_layout()) {
        prop_assume!(b.depth() > 0);
        if let Ok(composed) = a.compose(&b) {
            for (mode, of) in composed.modes().iter().zip(b.modes()) {
                prop_assert_eq!(offsets(mode), offsets(&a.compose(of)?));
            }
        }
    }

    /// `A o <B_0, B_1> = (A_0 o B_0, A_1 o B_1)` for a tuple of layouts. Modes beyond the tuple are
    /// dropped.
    #[test]
    fn a_tuple_composes_by_mode(a in any_layout(), b in any_layout(), c in any_layout()) {
        let both = a.compose_by(&Tiler::from([b.clone().into(), c.clone().into()]));
        if a.rank() < 2 {
            let too_high = matches!(both, Err(LayoutError::RankTooHigh { given: 2, most: 1, .. }));
            prop_assert!(too_high);
        } else if let (Ok(first), Ok(second)) = (a.modes()[0].compose(&b), a.modes()[1].compose(&c)) {
            prop_assert_eq!(both?, Layout::concat([first, second])?);
        } else {
            prop_assert!(both.is_err());
        }
    }

    /// Static operands do not change values: `values(A o B) = values(static(A) o static(B))`, and
    /// the result is static.
    #[test]
    fn static_operands_give_static_results(a in any_layout(), b in any_layout()) {
        let fix = |layout: &Layout| layout.to_string().split(['_']).collect::<String>();
        let fixed = |text: &str| -> String {
            let mut out = String::new();
            let mut before = ' ';
            for c in text.chars() {
                if c.is_ascii_digit() && !before.is_ascii_digit() {
                    out.push('_');
                }
                out.push(c);
                before = c;
            }
            out
        };
        let (plain_a, plain_b) = (fix(&a), fix(&b));
        let composed = |a: &str, b: &str| -> Result<Layout, LayoutError> { a.parse::<Layout>()?.compose(&b.parse()?) };
        match (composed(&plain_a, &plain_b), composed(&fixed(&plain_a), &fixed(&plain_b)), a.compose(&b)) {
            (Ok(plain), Ok(all_static), Ok(mixed)) => {
                prop_assert_eq!(fix(&mixed), plain.to_string());
                prop_assert_eq!(fix(&all_static), plain.to_string());
            }
            (plain, all_static, mixed) => prop_assert!(plain.is_err() && all_static.is_err() && mixed.is_err()),
        }
    }

    /// `slice(L, (c, _))(j) + offset = L((c, j))`.
    #[test]
    fn a_slice_is_the_layout_with_a_coordinate_fixed(layout in bijection(), c in any::<u64>(), j in any::<u64>()) {
        prop_assume!(layout.rank() == 2);
        let (c, j) = (c % layout.modes()[0].size(), j % layout.modes()[1].size());
        let (slice, offset) = layout.slice(&Coordinate::Tuple(vec![Coordinate::At(c), Coordinate::All]))?;
        let slice = slice.ok_or(LayoutError::EmptyTuple)?;
        prop_assert_eq!(offset + slice.offset(j)?, layout.offset([c, j])?);
    }
}

/// `(A o B) o C` and `A o (B o C)` are the same function, but it may fit only one of the profiles
/// of C and `B o C`.
#[test]
fn one_side_may_be_no_layout() -> Result<(), LayoutError> {
    let sides = |a: &str, b: &str, c: &str| {
        let [a, b, c] = [a, b, c].map(|text| text.parse::<Layout>().expect("a layout"));
        let (ab, bc) = (a.compose(&b).expect("A o B"), b.compose(&c).expect("B o C"));
        (bc.clone(), ab.compose(&c), a.compose(&bc))
    };
    let (bc, left, right) = sides("(3,4,2):(0,0,1)", "(4,8):(0,3)", "6:6");
    assert_eq!(bc.to_string(), "(2,3):(3,9)");
    // 0 0 0 1 1 1: groups of three fit C, but neither groups of two nor groups of three twos do.
    assert_eq!(offsets(&left?), [0, 0, 0, 1, 1, 1]);
    assert!(right.is_err(), "{right:?}");
    Ok(())
}
