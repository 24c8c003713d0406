//! Layouts with values up to 64 bits: operations that overflow are refused, and nothing panics.

use super::random_layouts::cases;
use crate::harness::prelude::*;
use falchion_lab::layout::expression::evaluate;
use proptest::prelude::*;

/// A number of any length in bits, often near a power of two.
fn wide() -> impl Strategy<Value = u64> {
    (0u32..64, -2i64..3, any::<u64>()).prop_map(|(bits, near, any)| match any % 3 {
        0 => any >> bits,
        _ => (1u64 << bits).wrapping_add_signed(near),
    })
}

proptest! {
    #![proptest_config(cases())]

    /// Every operation on layouts of any extents and strides returns without a panic. A result has
    /// a size and a cosize, and can be composed.
    #[test]
    fn wide_layouts_are_computed_or_refused(
        s in prop::array::uniform4(wide()),
        d in prop::array::uniform4(wide()),
        n in wide(),
    ) {
        let layout = |i: usize| Layout::new([s[i], s[i + 1]], [d[i], d[i + 1]]).or_else(|_| Layout::new(s[i], d[i]));
        if let (Ok(a), Ok(b)) = (layout(0), layout(2)) {
            let tiler = Tiler::from(b.clone());
            let results = [
                a.compose(&b),
                a.complement(n),
                a.logical_divide(&tiler),
                a.zipped_divide(&Tiler::from([tiler.clone()])),
                a.compose_by(&Tiler::from([tiler.clone()])),
                a.logical_product(&tiler),
                a.blocked_product(&b),
                a.left_inverse(),
                Ok(a.right_inverse()),
                Ok(a.coalesce()),
            ];
            for result in results.into_iter().flatten() {
                let last = result.offset(result.size() - 1)?;
                prop_assert_eq!(last, result.cosize() - 1, "{}", result);
            }
            prop_assert!(a.extended(n).is_ok() || n >= a.size());
        }
    }
}

#[test]
fn oversized_layouts_are_refused() {
    for (expression, part) in [
        ("(4294967296,4294967296)", "a product does not fit in 64 bits"),
        ("(2,2):(1,18446744073709551614)", "the cosize of the layout does not fit in 64 bits"),
        ("compose(3:9223372036854775807, 3:2)", "64 bits"),
        ("compose(2:9223372036854775808, 3:1)", "64 bits"),
        ("logical_product(4294967296:1, 4294967296:1)", "64 bits"),
        ("complement(2:1, 0)", "an extent is 0, and the least is 1"),
    ] {
        let refusal = evaluate(expression).map(|value| value.to_string()).expect_err(expression);
        assert!(refusal.because.contains(part), "{expression}: {}", refusal.because);
    }
    for (expression, value) in [
        ("compose((2,4):(1,2), 2:9223372036854775808)", "2:9223372036854775808"),
        ("compose((4,2):(2,1), 2:9223372036854775808)", "2:2305843009213693952"),
        ("cosize(2:18446744073709551614)", "18446744073709551615"),
        ("size(18446744073709551615:1)", "18446744073709551615"),
    ] {
        assert_eq!(
            evaluate(expression).map(|value| value.to_string()),
            Ok(value.to_owned()),
            "{expression}"
        );
    }
    assert_eq!(Layout::concat([]), Err(LayoutError::EmptyTuple));
}
