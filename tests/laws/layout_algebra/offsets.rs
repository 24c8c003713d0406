//! Layouts with offsets: every operation on coordinates keeps the offset, and is refused if an
//! offset has no meaning.

use super::random_layouts::{any_layout, cases, offsets};
use crate::harness::prelude::*;
use falchion_lab::layout::expression::{Value, evaluate};
use proptest::prelude::*;

fn composed(expression: &str) -> Composed {
    match evaluate(expression) {
        Ok(Value::Layout(layout)) => layout,
        other => panic!("{expression} is {other:?}"),
    }
}

/// Returns the offset of each integer.
fn places(of: &Composed) -> Vec<u64> {
    (0..of.layout.size()).map(|i| of.offset(i).expect("an integer below the size")).collect()
}

proptest! {
    #![proptest_config(cases())]

    /// `n + R(c) = A(from + B(c))`. From 0 on it is the composition.
    #[test]
    fn a_composition_from_an_offset_equals_that_of_functions(a in any_layout(), b in any_layout(), from in 0u64..64) {
        prop_assert_eq!(a.compose_from(0, &b).map(|(layout, _)| layout), a.compose(&b));
        if let Ok((layout, start)) = a.compose_from(from, &b) {
            for (at, index) in offsets(&layout).into_iter().zip(offsets(&b)) {
                prop_assert_eq!(Ok::<_, LayoutError>(start + at), a.extended(from + index), "{} from {} of {}", a, from, b);
            }
        }
    }

    /// A layout of one mode is linear, so it composes from every offset.
    #[test]
    fn one_mode_composes_from_every_offset(n in 1u64..100, d in 0u64..100, b in any_layout(), from in any::<u32>()) {
        let line = Layout::new(n, d)?;
        prop_assert_eq!(line.compose_from(from.into(), &b)?, (line.compose(&b)?, u64::from(from) * d));
    }

    /// Printed layouts parse to the same layouts.
    #[test]
    fn printed_offsets_read_back(layout in any_layout(), offset in 0u64..1000, swizzled in any::<bool>()) {
        let swizzle = if swizzled { "Sw<2,1,3> o " } else { "" };
        let (text, plain) = (format!("{swizzle}{offset} o {layout}"), layout.to_string());
        let read = composed(&text);
        prop_assert_eq!(read.to_string(), if swizzled || offset > 0 { text } else { plain });
        prop_assert_eq!((read.offset.value, &read.layout), (offset, &layout));
    }
}

/// An operation on the coordinates of a tile equals the operation on a layout that begins at 0,
/// plus the tile's offset, and then swizzled if there is a swizzle.
#[test]
fn operations_on_coordinates_keep_the_offset() {
    for operation in [
        "compose(L, 4)",
        "composition(L, (2,2))",
        "compose(L, (2,_))",
        "compose(L, 3:2 o 2)",
        "coalesce(L)",
        "coalesce(L, (1,1))",
        "flatten(L)",
        "logical_divide(L, (2,2))",
        "zipped_divide(L, (2,_))",
        "tiled_divide(L, 4:2)",
        "local_tile(L, (2,2), (1,0))",
        "local_tile(L, (2,2), (_,1))",
        "local_partition(L, (2,2), 3)",
        "((L))",
        "(L)(_,2)",
        "(L)(1,_)",
    ] {
        let of = |operand: &str| composed(&operation.replace('L', operand));
        let plain = of("0 o (4,4):(8,1)");
        for (tile, offset) in [
            ("local_tile((8,8):(8,1), (4,4), (1,1))", 36),
            ("(8,4,4):(16,8,1)(2,_,_)", 32),
            ("5 o 7 o (4,4):(8,1)", 12),
        ] {
            let moved = of(tile);
            assert_eq!(moved.layout, plain.layout, "{operation} of {tile}");
            assert_eq!(moved.offset.value, plain.offset.value + offset, "{operation} of {tile}");
            let swizzled = of(&format!("(Sw<2,1,3> o {tile})"));
            let expected: Vec<u64> = places(&moved)
                .into_iter()
                .map(|at| composed("Sw<2,1,3> o 1").swizzle.at(at))
                .collect();
            assert_eq!(places(&swizzled), expected, "{operation} of {tile} with a swizzle");
        }
    }
}

/// The left layout is applied from an offset on: `A(offset + B(c))`, if that is a layout.
#[test]
fn a_layout_left_of_an_offset_is_a_function() {
    for (expression, printed) in [
        ("10:3 o 4 o 2:2", "12 o 2:6"),
        ("(4,8):(8,1) o 2 o (2,8):(1,4)", "16 o (2,8):(8,1)"),
        ("(4,8):(8,1) o (4,8)(_,3)", "3 o (4):(8)"),
        ("Sw<2,0,3> o (4,8):(8,1) o 2 o 2", "Sw<2,0,3> o 16 o 2:8"),
        ("(4,4):(1,100) o 2 o 2:2", "2 o 2:98"),
        ("Sw<2,0,3> o size(8) o 4", "Sw<2,0,3> o 8 o 4:1"),
        ("composition(36, (4,4):(8,1))", "36 o (4,4):(8,1)"),
    ] {
        assert_eq!(
            evaluate(expression).map(|value| value.to_string()),
            Ok(printed.to_owned()),
            "{expression}"
        );
    }
    #[rustfmt::skip]
    let table = [
        ("(4,4):(100,1) o 2 o 2:2", "the offset 2, 2:2 and the right layout's modes before it together step across the extent 4"),
        ("8:1 o (Sw<2,0,2> o 4)", "8:1 is composed with a layout, and what is behind Sw<2,0,2> is none"),
        ("8 o Sw<2,0,2> o 4", "a swizzle is the first part of a composition"),
        ("8 o (Sw<2,0,2> o 4)", "an offset before a swizzle is no layout"),
        ("18446744073709551615 o 4:1", "64 bits"),
        ("18446744073709551615 o 1 o 4:1", "64 bits"),
        ("(2,4) o 18446744073709551615 o 2:1", "64 bits"),
    ];
    for (expression, because) in table {
        let refusal = evaluate(expression).expect_err(expression).because;
        assert!(refusal.contains(because), "{expression}: {refusal}");
    }
}

#[test]
fn an_offset_that_has_no_meaning_is_refused() {
    for expression in [
        "complement(T)",
        "complement(T, 64)",
        "right_inverse(T)",
        "left_inverse(T)",
        "logical_product(T, 2)",
        "logical_product(2, T)",
        "zipped_product(T, 2)",
        "tiled_product(T, 2)",
        "blocked_product(T, (2,2))",
        "raked_product((2,2), T)",
        "logical_divide(64, T)",
        "zipped_divide((8,8), (T,2))",
        "local_tile((8,8), T, 0)",
        "local_partition((8,8), T, 0)",
        "make_layout(T, 4)",
        "(T, 4:1)",
    ] {
        let refusal =
            evaluate(&expression.replace('T', "(4,2):(1,8)(_,1)")).expect_err(expression).because;
        assert!(
            refusal.contains("begins at 0 belongs here, and 8 o (4):(1) begins at 8"),
            "{expression}: {refusal}"
        );
    }
}
