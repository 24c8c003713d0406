//! Examples of CuTe's documentation and unit tests in CuTe's notation: results with their nesting.

use falchion_lab::layout::expression::evaluate;

/// Evaluates the left side of each pair, and compares it with the right side.
fn all(facts: &[(&str, &str)]) {
    for (expression, expected) in facts {
        let value = evaluate(expression).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(value.to_string(), *expected, "{expression}");
    }
}

#[test]
fn coalesced_as_documented() {
    all(&[
        ("coalesce((2,(1,6)):(1,(6,2)))", "12:1"),
        ("coalesce((_2,(_1,_6)):(_1,(_6,_2)))", "_12:_1"),
        ("coalesce((2,(1,6)):(1,(6,2)), (1,1))", "(2,6):(1,2)"),
        ("coalesce((2,4,6))", "48:1"),
        ("coalesce((2,4,6):(24,6,1))", "(2,4,6):(24,6,1)"),
        ("coalesce((2,1,3):(2,4,4))", "6:2"),
        ("coalesce((1,1):(5,7))", "1:0"),
        ("flatten((2,(4,(3,5))):(1,(2,(8,24))))", "(2,4,3,5):(1,2,8,24)"),
    ]);
}

#[test]
fn composed_as_documented() {
    all(&[
        ("compose((6,2):(8,2), (4,3):(3,1))", "((2,2),3):((24,2),8)"),
        ("compose(20:2, (5,4):(4,1))", "(5,4):(8,2)"),
        ("compose((10,2):(16,4), (5,4):(1,5))", "(5,(2,2)):(16,(80,4))"),
        ("compose((_10,_2):(_16,_4), (_5,_4):(_1,_5))", "(_5,(_2,_2)):(_16,(_80,_4))"),
        ("compose((3,6,2,8):(1000,100,10,1), 16:9)", "(2,2,4):(300,10,1)"),
        ("compose((12,(4,8)):(59,(13,1)), (_3:_4,_8:_2))", "(_3,(2,4)):(236,(26,1))"),
        ("compose((12,(4,8)):(59,(13,1)), (_3,_8))", "(_3,(4,2)):(59,(13,1))"),
        ("compose(4:1, 4:2)", "4:2"),
        ("compose((4,2), (2,2):(2,1))", "(2,2):(2,1)"),
        ("compose((4,2):(2,1), 8:1)", "(4,2):(2,1)"),
        ("compose((4,6,8,10):(2,3,5,7), 6:12)", "(2,3):(9,5)"),
    ]);
}

#[test]
fn complemented_as_documented() {
    all(&[
        ("complement(4:1, 24)", "6:4"),
        ("complement(6:4, 24)", "4:1"),
        ("complement((4,6):(1,4), 24)", "1:0"),
        ("complement(4:2, 24)", "(2,3):(1,8)"),
        ("complement((2,4):(1,6), 24)", "3:2"),
        ("complement((2,2):(1,6), 24)", "(3,2):(2,12)"),
        ("complement(_4:_1, 24)", "6:_4"),
        ("complement(_64:_1, _64)", "_1:_0"),
    ]);
}

#[test]
fn divided_as_documented() {
    all(&[
        ("logical_divide((4,2,3):(2,1,8), 4:2)", "((2,2),(2,3)):((4,1),(2,8))"),
        (
            "logical_divide((9,(4,8)):(59,(13,1)), (3:3,(2,4):(1,8)))",
            "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))",
        ),
        (
            "zipped_divide((9,(4,8)):(59,(13,1)), (3:3,(2,4):(1,8)))",
            "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))",
        ),
        (
            "tiled_divide((9,(4,8)):(59,(13,1)), (3:3,(2,4):(1,8)))",
            "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))",
        ),
        ("zipped_divide((8,24), (_4,_8))", "((_4,_8),(2,3)):((1,8),(4,64))"),
        ("zipped_divide((8,24,5), (4,_))", "((4,1),(2,24,5)):((1,0),(4,8,192))"),
        ("compose((9,(4,8)):(59,(13,1)), (3:3,(2,4):(1,8)))", "(3,(2,4)):(177,(13,2))"),
    ]);
}

#[test]
fn multiplied_as_documented() {
    all(&[
        ("logical_product((2,2):(4,1), 6:1)", "((2,2),(2,3)):((4,1),(2,8))"),
        ("logical_product((2,2):(4,1), (4,2):(2,1))", "((2,2),(4,2)):((4,1),(8,2))"),
        ("blocked_product((2,5):(5,1), (3,4):(1,3))", "(6,(5,4)):(5,(1,30))"),
        ("raked_product((2,5):(5,1), (3,4):(1,3))", "((3,2),(4,5)):((10,5),(30,1))"),
        ("logical_product((2,5):(5,1), (3:5,4:6))", "((2,3),(5,4)):((5,10),(1,30))"),
        ("zipped_product((2,5):(5,1), (3:5,4:6))", "((2,5),(3,4)):((5,1),(10,30))"),
        ("tiled_product((2,5):(5,1), (3:5,4:6))", "((2,5),3,4):((5,1),10,30)"),
        ("blocked_product(4:1, 3:2)", "(4,3):(1,8)"),
    ]);
}

#[test]
fn inverted_as_documented() {
    all(&[
        ("right_inverse((4,2):(2,1))", "(2,4):(4,1)"),
        ("right_inverse((2,4,6):(4,1,8))", "(4,2,6):(2,1,8)"),
        ("right_inverse(4:2)", "1:0"),
        ("left_inverse(4:2)", "(2,4):(4,1)"),
        ("left_inverse((2,4):(4,1))", "(4,2):(2,1)"),
    ]);
}

/// CuTe prints a slice's layout, and stores its offset separately.
#[test]
fn sliced_as_documented() {
    const A: &str = "((_3,2),(2,_5,_2)):((4,1),(_2,13,100))";
    for (coordinate, expected) in [
        ("(2,_)", "8 o ((2,_5,_2)):((_2,13,100))"),
        ("(_,5)", "28 o ((_3,2)):((4,1))"),
        ("((_,_),5)", "28 o (_3,2):(4,1)"),
        ("((_,1),(0,_,1))", "101 o (_3,_5):(4,13)"),
        ("((2,_),(_,3,_))", "47 o (2,2,_2):(1,_2,100)"),
        ("(_)", A),
        ("((2,1),(1,3,1))", "150"),
        ("(5,17)", "150"),
    ] {
        all(&[(&format!("{A}{coordinate}"), expected)]);
    }
}

/// CuTe compiles these, but its results differ from the composition of the functions.
#[test]
fn failed_compositions_name_the_divisibility() {
    #[rustfmt::skip]
    let table = [
        ("compose((4,6,8):(2,3,5), 6:3)", "the composition is no layout: the stride 3 of 6:3 neither divides nor is a multiple of the extent 4 of the left layout's coalesced mode \
             0; try stride 2"),
        ("compose((4,6,8):(2,3,5), 6:1)", "the composition is no layout: the extent 6 of 6:1 is not a multiple of 4, after which it leaves the left layout's coalesced mode 0; \
             try extent 4"),
        ("compose((4,3):(1,100), (3,2):(1,2))", "the composition is no layout: 2:2 and the right layout's modes before it together step across the extent 4 of the left layout's coalesced \
             mode 0, to 4, and the most is 3"),
        ("complement((3,2):(2,3), 24)", "the layout has no complement: its stride 3 is not a multiple of 6, where the modes of smaller stride end; try stride 6"),
        ("left_inverse((2,2):(1,1))", "the layout has no left inverse: it sends both 1 and 2 to 1"),
    ];
    for (expression, sentence) in table {
        let refusal = evaluate(expression).expect_err(expression);
        assert_eq!(refusal.because, sentence);
    }
}
