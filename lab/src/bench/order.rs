//! The order of contenders within a round.
//!
//! At the power limit, the clock of a block of launches depends on the previous block: after a
//! block with less power, it is higher. With rotation only, every contender would always follow the
//! same one. A Williams design avoids this. For `n` contenders, round `r` is
//!
//! ```text
//! z_i + r mod n        z = 0, 1, n - 1, 2, n - 2, ..        backwards in every other n rounds where n is odd
//! ```
//!
//! In `n` rounds, or `2n` if n is odd, each contender follows each other contender within a round
//! equally often.
//!
//! Source: E. J. Williams, "Experimental designs balanced for the estimation of residual effects of
//! treatments", 1949.

/// Returns the order of the `count` contenders in a round.
pub fn order(round: usize, count: usize) -> Vec<usize> {
    let zigzag =
        (0..count).map(|i| if i % 2 == 1 { i.div_ceil(2) } else { (count - i / 2) % count });
    let mut order: Vec<_> = zigzag.map(|z| (z + round) % count).collect();
    if count % 2 == 1 && round / count % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::order;
    use std::collections::BTreeMap;

    /// Checks that each round is a permutation, and that all ordered pairs of adjacent contenders
    /// are equally frequent over `n` or `2n` rounds.
    #[test]
    fn contenders_follow_each_other_equally_often() {
        assert_eq!(order(0, 0), [0usize; 0]);
        for count in 1..=9 {
            let rounds = if count % 2 == 0 { count } else { 2 * count };
            let mut pairs = BTreeMap::new();
            for round in rounds..2 * rounds {
                let order = order(round, count);
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert!(sorted.iter().copied().eq(0..count), "{order:?}");
                order
                    .windows(2)
                    .for_each(|pair| *pairs.entry([pair[0], pair[1]]).or_insert(0) += 1);
            }
            let often = rounds / count;
            assert!(
                pairs.len() == count * (count - 1) && pairs.values().all(|&found| found == often),
                "{count}: {pairs:?}"
            );
        }
    }
}
