//! Speed of the algebra: `cargo test --test laws layout_algebra::speed -- --ignored --nocapture`.

use crate::harness::prelude::*;

/// Returns a layout of two modes. Half of the layouts are nested, and their strides are multiples
/// of powers of two.
fn random_layout(i: u64) -> Layout {
    let pick = |n: u64, from: &[u64]| from[(draw(n, i) % from.len() as u64) as usize];
    let (s, t, u) = (pick(1, &[2, 4, 6, 8]), pick(2, &[2, 3, 4, 8]), pick(3, &[2, 4]));
    let text = if draw(4, i).is_multiple_of(2) {
        format!("({s},({t},{u})):(1,({},{}))", s * t * u, s * 2)
    } else {
        format!("({s},{t}):({t},1)")
    };
    text.parse().expect("a layout")
}

/// Two layouts and a tiler.
type Operands = (Layout, Layout, Tiler);
/// Operation that is timed.
type Operation = fn(&Operands) -> Result<Layout, LayoutError>;

/// 100,000 random compositions, divides, and products per second on one core. Each pair runs all
/// three operations, and is created before the measurement.
#[test]
#[ignore = "measures time on an idle core"]
fn the_algebra_runs_100_000_operations_per_second() {
    const PAIRS: u64 = 100_000;
    let operands: Vec<Operands> = (0..PAIRS)
        .map(|i| {
            (random_layout(i), random_layout(i + PAIRS), Tiler::from(random_layout(i + 2 * PAIRS)))
        })
        .collect();
    let operations: [(&str, Operation); 3] = [
        ("compositions", |(a, b, _)| a.compose(b)),
        ("divides", |(a, _, tiler)| a.logical_divide(tiler)),
        ("products", |(a, _, tiler)| a.logical_product(tiler)),
    ];
    for (name, operation) in operations {
        let start = Instant::now();
        let done = operands.iter().filter(|operands| operation(operands).is_ok()).count();
        let rate = PAIRS as f64 / start.elapsed().as_secs_f64();
        println!("{rate:.0} {name} a second, {done} of {PAIRS} layouts");
        assert!(
            rate >= 100_000.0 && done as u64 * 10 > PAIRS,
            "{rate} {name} a second, {done} layouts"
        );
    }
}
